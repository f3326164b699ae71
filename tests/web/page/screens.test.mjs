// The GUI on the page: WebGL2 on a canvas, the engines in their worker. In Chromium.
import assert from "node:assert/strict";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";

import { asset, builtFile, run, temporaryFolder } from "../../e2e/support.mjs";
import { closeBrowser, openPage, serve, shows, status } from "./support.mjs";

after(closeBrowser);

const canvas = (page) => page.locator("#screens");
async function command(page, text) {
  await canvas(page).focus();
  await page.keyboard.press("Control+k");
  await page.waitForTimeout(200);
  await page.keyboard.type(text, { delay: 15 });
  await page.waitForTimeout(200);
  await page.keyboard.press("Enter");
}

test("the demo compares this browser's engines on one command; every view opens by its key", async (t) => {
  const { url } = await serve(t);
  const { page, complaints } = await openPage(t);
  await page.goto(url);
  await shows(page, { view: "Run", busy: "false" });
  assert.ok(await page.locator("main").isHidden(), "the screens are the page");
  await command(page, "run the demo");
  await shows(page, { busy: "false", targets: "3", view: "Layers" });
  assert.equal(await canvas(page).getAttribute("data-error"), "");
  const views = ["Run", "Layers", "Drift", "Tensor", "Time", "Memory", "Graph", "Summary", "Runs"];
  for (const [place, view] of views.entries()) {
    await canvas(page).press(String(place + 1));
    await shows(page, { view });
    // An empty canvas compresses to next to nothing.
    assert.ok((await canvas(page).screenshot()).length > 10_000, view);
  }
  const rows = page.locator("#screens-table tbody tr");
  assert.equal(await rows.count(), 13);
  assert.match(await rows.first().textContent(), /conv1Conv[=~] (identical|rounding)/);
  // The whole set: PyTorch has 445 of its 450 digits right (assets/data/lenet5.predictions.txt).
  const whole = await page.locator("#screens-table tfoot tr").allTextContents();
  assert.match(whole[0], /as labelled445 of 450 \(98\.89 %\)445 of 450 \(98\.89 %\)445 of 450/);
  assert.match(whole[1], /450 of 450 \(100\.00 %\)450 of 450 \(100\.00 %\)450 of 450/);
  assert.deepEqual(complaints, []);
});

test("runs are remembered, with the build of the engine, until they are cleared", async (t) => {
  const { url } = await serve(t);
  const { page } = await openPage(t);
  await page.addInitScript(() => {
    navigator.clipboard.writeText = async (text) => (globalThis.copied = text);
  });
  const series = async () => {
    await canvas(page).focus();
    await canvas(page).press("9");
    await shows(page, { view: "Runs" });
    await canvas(page).press("Control+c");
    await page.waitForFunction(() => globalThis.copied !== undefined);
    return page.evaluate(() => globalThis.copied);
  };
  await page.goto(`${url}#model=lenet5&targets=strict`);
  await shows(page, { busy: "false", targets: "1", view: "Layers" });
  await page.goto("about:blank");
  await page.goto(url);
  await shows(page, { busy: "false", view: "Run" });
  assert.match(await series(), /lenet5 {2}chrome\/strict .* [0-9a-f]{8} +20\d\d-/);
  await page.locator("#screens-size").click();
  assert.ok(await canvas(page).isHidden(), "the plain page has no screens");
  await page.locator("#kept-text").filter({ hasText: "the times of 1 run" }).waitFor();
  await page.locator("#start").click();
  await status(page, "Done: 13 layers");
  await page.locator("#kept-text").filter({ hasText: "the times of 2 runs" }).waitFor();
  await page.locator("#clear").click();
  await page.locator("#kept").waitFor({ state: "hidden" });
  await page.locator("#screens-size").click();
  await page.evaluate(() => delete globalThis.copied);
  assert.doesNotMatch(await series(), /lenet5/);
});

test("the PC that serves the page is a target beside this browser", async (t) => {
  const { url } = await serve(t);
  const { page, complaints } = await openPage(t);
  await page.goto(`${url}#model=lenet5&targets=strict,pc/strict,pc/fast`);
  await shows(page, { busy: "false", targets: "3", view: "Layers" });
  assert.equal(await canvas(page).getAttribute("data-error"), "");
  const head = await page.locator("#screens-table thead").textContent();
  assert.match(head, /pc\/strict/);
  assert.match(head, /pc\/fast/);
  const first = await page.locator("#screens-table tbody tr").first().textContent();
  assert.match(first, /conv1Conv.*= identical.*~ rounding/); // strict has the same bits on both
  assert.deepEqual(complaints, []);
});

test("the checks of a comparison run on the page as well", async (t) => {
  const { url } = await serve(t);
  const { page, complaints } = await openPage(t);
  await page.goto(
    `${url}#model=lenet5&targets=strict,fast,pc/strict&checks=repeat,capturing,memory&view=Summary`,
  );
  await shows(page, { busy: "false", targets: "3" });
  assert.equal(await canvas(page).getAttribute("data-error"), "");
  const [repeated, capturing, memory] = await page.locator("#screens-table tfoot tr").allTextContents();
  assert.match(repeated, /^repeated runs(all 10 runs agree bit for bit \(14 values each\)){3}$/);
  assert.match(capturing, /^capturing(changes nothing){3}$/);
  assert.match(memory, /^memory(flat over \d+ runs){2}(flat|unclear) over \d+ runs$/);
  assert.deepEqual(complaints, []);
});

test("a kept comparison opens with its tensors, graph and results", async (t) => {
  const file = join(temporaryFolder(t), "run.drift");
  const kept = run([
    "compare",
    asset("models", "lenet5.onnx"),
    "--right",
    "pc/fast",
    "--quiet",
    "--save",
    file,
  ]);
  assert.equal(kept.status, 0, kept.stderr);
  const { url } = await serve(t);
  const { page, complaints } = await openPage(t);
  await page.goto(url);
  await shows(page, { view: "Run", busy: "false" });
  await page.locator("#file").setInputFiles(file);
  await shows(page, { view: "Layers" });
  for (const [key, view] of [
    ["4", "Tensor"],
    ["7", "Graph"],
    ["8", "Summary"],
  ]) {
    await canvas(page).press(key);
    await shows(page, { view });
    assert.ok((await canvas(page).screenshot()).length > 20_000, view);
  }
  await canvas(page).press("1");
  writeFileSync(file, readFileSync(file).subarray(0, 5000));
  await page.locator("#file").setInputFiles(file);
  await page.locator("#error").filter({ hasText: "cut" }).waitFor({ state: "attached" });
  assert.deepEqual(complaints, []);
});

test("a layer is chosen with the mouse and with the keys; Tab leaves the canvas", async (t) => {
  const { page } = await openPage(t);
  const { url } = await serve(t);
  await page.goto(`${url}#model=lenet5&targets=strict,reference&layer=conv2`);
  await shows(page, { busy: "false", targets: "2", view: "Layers", layer: "conv2" });
  await canvas(page).press("ArrowDown");
  await shows(page, { layer: "relu2" });
  await canvas(page).press("Control+z");
  await shows(page, { layer: "conv2" });
  await canvas(page).click({ position: { x: 160, y: 128 } });
  await page.waitForFunction(() => document.getElementById("screens").dataset.layer !== "conv2");
  await canvas(page).press("Tab");
  assert.notEqual(await page.evaluate(() => document.activeElement.id), "screens");
});

test("the page runs without the screens where there is no WebGL2", async (t) => {
  const { page, complaints } = await openPage(t);
  await page.addInitScript(() => {
    const real = HTMLCanvasElement.prototype.getContext;
    HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {
      return kind === "webgl2" ? null : real.call(this, kind, ...rest);
    };
  });
  const { url } = await serve(t);
  await page.goto(url);
  await page.locator("#start:enabled").waitFor();
  assert.ok(await page.locator("#screens-card").isHidden());
  await page.locator("#start").click();
  await status(page, "Done: 13 layers");
  assert.deepEqual(complaints, []);
});

test("the screens are a small download", () => {
  const size = statSync(builtFile("web", "site", "gui", "driftscope-gui.wasm.br")).size;
  assert.ok(size < 700_000, `${size} bytes compressed`);
});
