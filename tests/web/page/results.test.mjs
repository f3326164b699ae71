// Studies, attacks, generations and training curves on the page: chosen as files or folders, or
// dropped; a wrong layer. In Chromium.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";

import { writeTable, writeTraining } from "../../e2e/curve_files.mjs";
import { decodePng, differing } from "../../e2e/gui/png.mjs";
import { asset, readSafetensors, run, temporaryFolder, writeSafetensors } from "../../e2e/support.mjs";
import { closeBrowser, openPage, serve, shows } from "./support.mjs";

after(closeBrowser);

const canvas = (page) => page.locator("#screens");

async function openScreens(t) {
  const { url } = await serve(t);
  const opened = await openPage(t);
  await opened.page.addInitScript(() => {
    navigator.clipboard.writeText = async (text) => (globalThis.copied = text);
  });
  await opened.page.goto(url);
  await shows(opened.page, { view: "Run", busy: "false" });
  return opened;
}

/** The table of the view, as Ctrl+C copies it. */
async function copied(page) {
  await page.evaluate(() => delete globalThis.copied);
  await canvas(page).focus();
  await canvas(page).press("Control+c");
  await page.waitForFunction(() => globalThis.copied !== undefined);
  return page.evaluate(() => globalThis.copied);
}

/** Waits until the screens show such an error. */
async function refused(page, pattern) {
  const error = () => canvas(page).getAttribute("data-error");
  const end = Date.now() + 30_000;
  while (!pattern.test(await error()) && Date.now() < end) await page.waitForTimeout(50);
  assert.match(await error(), pattern);
}

const digits = () =>
  `idx:${asset("data/digits-test-images.idx3-ubyte")},${asset("data/digits-test-labels.idx1-ubyte")}`;

function attackIn(folder, method) {
  const made = run([
    "attack",
    asset("models/lenet1.onnx"),
    ...["--method", method, "--epsilon", "0.3", "--dataset", digits(), "--samples", "12"],
    ...["--targets", "pc/strict,pc/fast", "--store", "8bit", "--quiet", "-o", folder],
  ]);
  assert.equal(made.status, 0, made.stderr);
  return folder;
}

function studyIn(folder) {
  const file = join(folder, "small.json");
  writeFileSync(
    file,
    JSON.stringify({
      format: "driftscope-study-1",
      name: "small",
      title: "A small study",
      about: "Two engines on digits.",
      models: [
        { name: "lenet1", path: asset("models/lenet1.onnx"), data: [{ name: "digits", source: digits() }] },
      ],
      targets: ["pc/strict", "pc/fast"],
      samples: 20,
      repetitions: 1,
      claims: [
        {
          text: "All answer the same",
          kind: "same_answers",
          models: ["lenet1"],
          left: "pc/strict",
          hosts: ["pc"],
        },
      ],
    }),
  );
  const results = join(folder, "results");
  const ran = run(["study", "run", file, "--out", results, "--full", "--quiet"]);
  assert.equal(ran.status, 0, ran.stderr);
  return results;
}

test("folders of a study, of attacks and of a training open in their views", async (t) => {
  const folder = temporaryFolder(t);
  const { page, complaints } = await openScreens(t);
  const study = studyIn(folder);
  await page.locator("#folder").setInputFiles(study);
  await shows(page, { view: "Study", error: "" });
  assert.match(await copied(page), /All answer the same/);
  await page.locator("#folder").setInputFiles(attackIn(join(folder, "fgsm"), "fgsm"));
  await shows(page, { view: "Attack", error: "" });
  assert.match(await copied(page), /^fgsm, ε 0\.3 +pc\/strict +\d+ +12 /m);
  // Another method beside it, from its files one by one.
  const bim = attackIn(join(folder, "bim"), "bim");
  await canvas(page).press("1");
  await shows(page, { view: "Run" });
  await page
    .locator("#file")
    .setInputFiles(
      ["attack.json", "originals.npy", "pc-strict.npy", "pc-fast.npy"].map((name) => join(bim, name)),
    );
  await shows(page, { view: "Attack", error: "" });
  const both = await copied(page);
  assert.match(both, /^fgsm, ε 0\.3 +pc\/fast/m);
  assert.match(both, /^bim, ε 0\.3 +pc\/fast/m);
  await page.locator("#folder").setInputFiles(writeTraining(join(folder, "training")));
  await shows(page, { view: "Curves", error: "" });
  assert.match(await copied(page), /^lenet1\/pytorch +loss +1 +5 /m);
  assert.ok((await canvas(page).screenshot()).length > 20_000);
  assert.deepEqual(complaints, []);
});

test("a generation opens from its folder and from its file", async (t) => {
  const folder = temporaryFolder(t);
  const { page, complaints } = await openScreens(t);
  const keep = join(folder, "steps");
  const made = run([
    "generate",
    asset("models/decoder/model.onnx"),
    ...["--prompt", "12,40,7", "--steps", "4", "--targets", "pc/fast", "--measure", "0", "--quiet"],
    ...["--keep", keep],
  ]);
  assert.equal(made.status, 0, made.stderr);
  // Traces of every step are beside it: they are not read.
  await page.locator("#folder").setInputFiles(keep);
  await shows(page, { view: "Generation", error: "" });
  assert.match(await copied(page), /^pc\/fast +0 +3 +\d+ /m);
  const document = JSON.parse(readFileSync(join(keep, "generate.json"), "utf8"));
  Object.assign(document.targets[1].sequences[0].steps[2], { token: 77, flip: "fault", first_fault: "conv" });
  writeFileSync(join(folder, "mine.json"), JSON.stringify(document));
  await canvas(page).press("1");
  await shows(page, { view: "Run" });
  await page.locator("#file").setInputFiles(join(folder, "mine.json"));
  await shows(page, { view: "Generation", error: "" });
  assert.match(await copied(page), /^pc\/fast +0 +2 +77 .* fault +conv$/m);
  writeFileSync(join(folder, "bad.json"), '{"format": "driftscope-generate-1"}');
  await page.locator("#file").setInputFiles(join(folder, "bad.json"));
  await refused(page, /bad\.json: the document: "model" is missing/);
  assert.match(await copied(page), /^pc\/fast +0 +2 +77 /m);
  assert.deepEqual(complaints, []);
});

test("a wrong layer says why; what would be done about it is copied as commands", async (t) => {
  const folder = temporaryFolder(t);
  const { page, complaints } = await openScreens(t);
  const trace = join(folder, "wrong.safetensors");
  const model = asset("models/lenet5.onnx");
  assert.equal(run(["run", model, "--target", "pc/strict", "--trace", trace]).status, 0);
  const { metadata, tensors } = readSafetensors(trace);
  const { bytes } = tensors.get("conv1.out");
  new Float32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4).fill(0, 5 * 28 * 28);
  writeSafetensors(trace, tensors, metadata);
  const file = join(folder, "run.drift");
  const kept = run(["compare", model, "--right", `file/${trace}`, "--quiet", "--save", file]);
  assert.equal(kept.status, 1, kept.stderr);
  await page.locator("#file").setInputFiles(file);
  await shows(page, { view: "Layers", layer: "conv1" });
  const wrong = decodePng(await canvas(page).screenshot());
  await canvas(page).press("ArrowDown");
  await shows(page, { layer: "relu1" });
  assert.ok(differing(wrong, decodePng(await canvas(page).screenshot()), 15) > 0.02, "the panel");
  await canvas(page).press("ArrowUp");
  await shows(page, { layer: "conv1" });
  await page.evaluate(() => delete globalThis.copied);
  await canvas(page).press("Control+k");
  await page.keyboard.type("reduce this");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => globalThis.copied !== undefined);
  assert.deepEqual((await page.evaluate(() => globalThis.copied)).split("\n"), [
    "driftscope run lenet5.onnx --target pc/strict --trace t.safetensors",
    "driftscope reduce lenet5.onnx t.safetensors conv1 -o report",
  ]);
  assert.deepEqual(complaints, []);
});

test("curves are dropped; what is none says what was expected, and what was open stays", async (t) => {
  const folder = temporaryFolder(t);
  const { page, complaints } = await openScreens(t);
  const drop = (files) =>
    page.evaluate((given) => {
      const dataTransfer = new DataTransfer();
      for (const [name, text] of Object.entries(given)) dataTransfer.items.add(new File([text], name));
      document.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
    }, files);
  const table = readFileSync(writeTable(join(folder, "table.csv")), "utf8");
  await drop({ "table.csv": table, "history.json": '{"val_loss": [2, 1, 0.5]}' });
  await shows(page, { view: "Curves", error: "" });
  assert.match(await copied(page), /^history +val_loss +0 +3 +0\.5$/m);
  await drop({ "bad.csv": "epoch,loss\n1,2\n2,high\n", "good.csv": "epoch,loss\n1,2\n" });
  await refused(page, /^bad\.csv: line 3/);
  assert.match(await copied(page), /^good +loss +0 +1 +2$/m, "the rest opens");
  await drop({ "a.npy": "x" });
  await refused(page, /a\.npy: .*attack\.json/);
  await drop({ "attack.json": '{"format": "driftscope-attack-1"}' });
  await refused(page, /attack\.json: .*model_sha256/);
  await drop({ "picture.png": "x" });
  await refused(page, /^Nothing here can be opened\. Expected one \.onnx/);
  assert.match(await page.locator("#error").textContent(), /^Nothing here can be opened/);
  // A folder that is a study in part.
  const part = join(folder, "part");
  mkdirSync(part);
  writeFileSync(join(part, "cells.jsonl"), "{}\n");
  await page.locator("#folder").setInputFiles(part);
  await refused(page, /part: study\.json and sizes\.json are missing; expected the whole folder/);
  assert.match(await copied(page), /^good +loss/m);
  assert.deepEqual(complaints, []);
});

test("the buttons of the header open the choice of files and of a folder", async (t) => {
  const { page } = await openScreens(t);
  for (const [name, multiple] of [
    ["Open files", true],
    ["Open a folder", false],
  ]) {
    const chooser = page.waitForEvent("filechooser");
    await page.getByRole("button", { name }).click();
    assert.equal((await chooser).isMultiple(), multiple, name);
  }
  await page.locator("#screens-size").click();
  assert.ok(await page.getByRole("button", { name: "Open a folder" }).isHidden());
});
