// The GUI as a person uses it: opened, browsed, sorted, filtered, resized, given bad files.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { functions } from "../hostile_onnx.mjs";
import { asset, run, sanitized, temporaryFolder, writeSafetensors } from "../support.mjs";
import { colours, decodePng, differing, encodeGrey, reduced } from "./png.mjs";
import { gui, hasGui, picture } from "./support.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const skip = !hasGui && "driftscope-gui was not built";
const views = ["Run", "Layers", "Drift", "Tensor", "Time", "Memory", "Graph", "Summary", "Runs"];
const images = asset("data/digits-test-images.idx3-ubyte");
const digit = `idx:${images},${asset("data/digits-test-labels.idx1-ubyte")}#121`;

function traceOf(folder, engine, model = "lenet5", input = digit) {
  const trace = join(folder, `${model}-${engine}.safetensors`);
  const made = run([
    "run",
    asset(`models/${model}.onnx`),
    "--input",
    input,
    "--target",
    `pc/${engine}`,
    "--repeat",
    "3",
    "--trace",
    trace,
    "--quiet",
  ]);
  assert.equal(made.status, 0, made.stderr);
  return trace;
}

/** A stored comparison that is the same on every machine, times included. */
function fixture(folder) {
  const layer = (i, more) => ({
    node: `block${i >> 2}/conv${i}`,
    op: i % 4 === 3 ? "Relu" : "Conv",
    output: `v${i}`,
    shape: [1, 8, 14, 14],
    max_abs: 0,
    max_rel: 0,
    max_ulp: 0,
    mean_abs: 0,
    cosine: 1,
    sqnr_db: 100,
    different_elements: 0,
    elements: 1568,
    ...more,
  });
  const verified = (i, fault) =>
    layer(i, {
      verdict: fault ? "fault" : i % 4 === 3 ? "identical" : "rounding",
      budget_used: fault ? 731.2 : (i % 7) / 9,
      budget_used_statistical: 0,
      max_abs: 1e-7 * (1 + (i % 5)),
      mean_signed_z: 0,
      nan: 0,
      inf: 0,
      worst: null,
    });
  const verify = (target, at) => ({
    format: "driftscope-verify-1",
    model_sha256: "00",
    target,
    verdict: at < 0 ? "rounding" : "fault",
    first_fault: at < 0 ? null : `block${at >> 2}/conv${at}`,
    layers: Array.from({ length: 24 }, (_, i) => verified(i, i === at)),
  });
  const right = (target, from, at) => ({
    target,
    verify: verify(target, at),
    first_divergence: `block${from >> 2}/conv${from}`,
    layers: Array.from({ length: 24 }, (_, i) =>
      layer(
        i,
        i < from
          ? { kl: 0, left_ns: 1000 * (1 + (i % 6)), right_ns: 2500 * (1 + (i % 5)) }
          : {
              max_abs: 1e-7 * 1.6 ** (i - from),
              max_ulp: 3 * i,
              cosine: 0.9999,
              kl: 0,
              different_elements: 40 * i,
              left_ns: 1000 * (1 + (i % 6)),
              right_ns: 2500 * (1 + (i % 5)),
            },
      ),
    ),
    output: { top1_left: 8, top1_right: 8, agree: true },
    memory: { peak_bytes: 123456789, kind: "process_tree_pss" },
  });
  const file = join(folder, "comparison.json");
  writeFileSync(
    file,
    JSON.stringify({
      format: "driftscope-compare-1",
      left: { target: "pc/strict", verify: verify("pc/strict", -1) },
      right: [right("chrome/strict", 5, 14), right("firefox/strict", 9, -1)],
    }),
  );
  return file;
}

test("every view of two runs is drawn, from 640×480 to 4K, light and dark", { skip }, (t) => {
  const folder = temporaryFolder(t);
  const files = [traceOf(folder, "strict"), traceOf(folder, "fast")];
  const lines = ["idle", "expect noerror", "expect targets 2", "expect layers 13"];
  const sizes = sanitized ? ["1280 800"] : ["640 480", "1280 800", "3840 2160"];
  // Software rendering is slow at 4K: only views whose drawing grows with the window.
  const viewsAt = (size) => (size === "3840 2160" ? ["Layers", "Tensor", "Graph"] : views);
  for (const size of sizes)
    for (const view of viewsAt(size))
      lines.push(
        `size ${size}`,
        `view ${view}`,
        `expect view ${view}`,
        `shot ${view}-${size.replace(" ", "x")}.png`,
      );
  lines.push("size 1280 800", "key T", "view Layers", "shot light.png");
  const done = gui(folder, lines, { files });
  assert.equal(done.status, 0, done.stderr);
  for (const size of sizes)
    for (const view of viewsAt(size)) {
      const seen = picture(folder, `${view}-${size.replace(" ", "x")}.png`);
      assert.equal(`${seen.width} ${seen.height}`, size);
      assert.ok(colours(seen) > 20, `${view} at ${size} has ${colours(seen)} colours`);
    }
  assert.ok(differing(picture(folder, "light.png"), picture(folder, "Layers-1280x800.png")) > 0.5);
});

test("layers are selected, filtered, gone through and back by keys", { skip }, (t) => {
  const folder = temporaryFolder(t);
  const done = gui(
    folder,
    [
      "idle",
      "view Layers",
      "expect layer block3/conv14", // the first fault is selected initially
      "key Home",
      "expect layer block0/conv0",
      "key Down",
      "key Down",
      "expect layer block0/conv2",
      "key J",
      "expect layer block0/conv3",
      "key Up",
      "expect layer block0/conv2",
      "key Ctrl+Z",
      "expect layer block0/conv3",
      "key Ctrl+Y",
      "expect layer block0/conv2",
      "key F",
      "expect layer block3/conv14",
      "key ]",
      "key D",
      "key /",
      "type relu",
      "key Enter",
      "frames 3",
      "key Escape",
      "key End",
      "expect layer block5/conv23",
      "key Up",
      "expect layer block4/conv19",
      "key Ctrl+K",
      "type drift",
      "frames 2",
      "key Enter",
      "expect view Drift",
      "key Down",
      "expect layer block5/conv20",
      "key 7",
      "expect view Graph",
      "key Ctrl+K",
      "type layer conv11",
      "frames 2",
      "key Enter",
      "expect layer block2/conv11",
      "key 2",
      "expect view Layers",
      "key Home",
      "click 160 225",
      "expect layer block5/conv23",
    ],
    { files: [fixture(folder)] },
  );
  assert.equal(done.status, 0, done.stderr);
});

test("what is seen is saved as CSV, SVG and PNG", { skip }, (t) => {
  const folder = temporaryFolder(t);
  const done = gui(
    folder,
    [
      "idle",
      "view Layers",
      "key Ctrl+S",
      "view Drift",
      "key Ctrl+E",
      "key Ctrl+P",
      "frames 3",
      "view Graph",
      "key Ctrl+E",
      "view Time",
      "key Ctrl+E",
    ],
    { files: [fixture(folder)] },
  );
  assert.equal(done.status, 0, done.stderr);
  const csv = readFileSync(join(folder, "comparison-layers.csv"), "utf8");
  assert.equal(csv.trim().split("\r\n").length, 25);
  assert.match(csv, /^layer,place,op,output,shape,bytes,pc\/strict verdict,/);
  for (const name of ["comparison-drift.svg", "comparison-graph.svg", "comparison-time.svg"])
    assert.match(readFileSync(join(folder, name), "utf8"), /^<svg [\s\S]*<\/svg>\n$/);
  assert.ok(colours(decodePng(readFileSync(join(folder, "comparison-drift.png")))) > 20);
});

test("a whole data set is predicted on request", { skip }, (t) => {
  const folder = temporaryFolder(t);
  // The set; not the browsers (nor Node, which nobody chose); go.
  const clicks = ["22 261", "22 479", "22 625", "22 742", "30 958"].flatMap((place) => [
    `click ${place}`,
    "frames 2",
  ]);
  const done = gui(
    folder,
    [
      "idle",
      "size 1280 1000",
      "view Run",
      "frames 3",
      ...clicks,
      "idle",
      "expect noerror",
      "expect targets 1",
      "view Summary",
      "key Ctrl+S",
    ],
    {},
  );
  assert.equal(done.status, 0, done.stderr);
  assert.match(readFileSync(join(folder, "lenet5-summary.csv"), "utf8"), /pc\/strict.*,445,450/);
});

test("files can be dropped at any time; bad ones say what is wrong and change nothing", { skip }, (t) => {
  const folder = temporaryFolder(t);
  const strict = traceOf(folder, "strict");
  const cut = traceOf(folder, "fast");
  truncateSync(cut, 5000);
  const other = traceOf(folder, "strict", "lenet1");
  const empty = join(folder, "empty.safetensors");
  writeSafetensors(
    empty,
    new Map([
      ["conv1.out", { dtype: "F32", shape: [1, 0, 3], bytes: Buffer.alloc(0) }],
      ["x", { dtype: "F32", shape: [2], bytes: Buffer.from(new Float32Array([NaN, Infinity]).buffer) }],
    ]),
  );
  writeFileSync(join(folder, "broken.json"), '{"format":"driftscope-compare-1"}');
  writeFileSync(join(folder, "what.xyz"), "x");
  const done = gui(
    folder,
    [
      "idle",
      "expect targets 0",
      `drop ${strict}`,
      "idle",
      "expect noerror",
      "expect targets 1",
      "expect view Layers",
      `drop ${cut}`,
      "idle",
      "expect error lenet5-fast.safetensors",
      "expect targets 1",
      "drop broken.json",
      "idle",
      'expect error "left" is missing',
      "drop what.xyz",
      "idle",
      "expect error unknown kind of file",
      "drop gone.onnx",
      "idle",
      "expect error gone.onnx",
      "expect targets 1",
      `drop ${other}`,
      "idle",
      "expect noerror",
      "expect targets 1",
      "expect layers 9",
      "drop empty.safetensors",
      "idle",
      "expect targets 2",
      "view Tensor",
      "key Home",
      "shot empty.png",
      "view Summary",
      "shot summary.png",
      "view Graph",
      "shot graph.png",
    ],
    { files: [] },
  );
  assert.equal(done.status, 0, done.stderr);
  assert.ok(existsSync(join(folder, "empty.png")));
});

/** Two traces of one value each, the same on every machine. */
function twoTensors(folder) {
  const shape = [1, 3, 24, 32];
  return ["strict", "fast"].map((engine, right) => {
    const values = Float32Array.from(
      { length: 3 * 24 * 32 },
      (_, i) => Math.round(1000 * Math.sin(i * 0.05)) / 1000 + (right && i % 29 === 0 ? 2 ** -10 : 0),
    );
    const path = join(folder, `${engine}.safetensors`);
    writeSafetensors(
      path,
      new Map([["features", { dtype: "F32", shape, bytes: Buffer.from(values.buffer) }]]),
      { format: "driftscope-trace-1", target: `pc/${engine}` },
    );
    return path;
  });
}

// Not Run and Runs: they show data of this machine.
for (const [files, names] of [
  [(folder) => [fixture(folder)], ["Layers", "Drift", "Time", "Memory", "Graph", "Summary"]],
  [twoTensors, ["Tensor"]],
])
  test(
    `the look of ${names.join(", ")} is the stored one`,
    { skip: skip || (sanitized && "looked at once") },
    (t) => {
      const folder = temporaryFolder(t);
      const done = gui(
        folder,
        ["idle", "size 800 500", ...names.flatMap((view) => [`view ${view}`, `shot ${view}.png`])],
        { files: files(folder) },
      );
      assert.equal(done.status, 0, done.stderr);
      for (const name of names) {
        const stored = join(here, "pictures", `${name.toLowerCase()}.png`);
        const seen = reduced(picture(folder, `${name}.png`));
        if (process.env.DRIFTSCOPE_STORE_PICTURES) {
          mkdirSync(dirname(stored), { recursive: true });
          writeFileSync(stored, encodeGrey(seen));
        }
        const share = differing(seen, decodePng(readFileSync(stored)));
        // Another version of the software renderer draws edges a little differently.
        assert.ok(
          share < 0.02,
          `${name}: ${(100 * share).toFixed(2)} % of the pixels differ from ${stored}; ` +
            "DRIFTSCOPE_STORE_PICTURES=1 stores the new look",
        );
      }
    },
  );

test("the window keeps to --max-memory: what needs more is refused, and it continues", { skip }, (t) => {
  const folder = temporaryFolder(t);
  const hostile = join(folder, "hostile.onnx");
  writeFileSync(hostile, functions(17, 900));
  const done = gui(
    folder,
    [
      "idle",
      "expect error take more than 157",
      `open ${asset("models/lenet1.onnx")}`,
      "idle",
      "expect noerror",
    ],
    { files: [hostile], options: ["--max-memory", "300MB"] }, // the half of which is less than usual
  );
  assert.equal(done.status, 0, done.stderr);
});

test("without a display it says so, and a wrong option as well", { skip }, () => {
  const none = run(["gui"], { env: { DISPLAY: "", WAYLAND_DISPLAY: "" } });
  assert.equal(none.status, 3);
  assert.match(none.stderr, /no window can be opened here/);
  assert.equal(run(["gui", "--size", "large"], { env: { DISPLAY: "" } }).status, 2);
});

test("a study and an attack are opened from their folders", { skip }, (t) => {
  const folder = temporaryFolder(t);
  const digits = `idx:${images},${asset("data/digits-test-labels.idx1-ubyte")}`;
  const study = join(folder, "study.json");
  writeFileSync(
    study,
    JSON.stringify({
      format: "driftscope-study-1",
      name: "small",
      title: "A small study",
      about: "Two engines on digits.",
      models: [
        { name: "lenet1", path: asset("models/lenet1.onnx"), data: [{ name: "digits", source: digits }] },
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
  const ran = run(["study", "run", study, "--out", results, "--full", "--quiet"]);
  assert.equal(ran.status, 0, ran.stderr);
  const attack = join(folder, "fgsm");
  const attacked = run([
    "attack",
    asset("models/lenet1.onnx"),
    "--method",
    "fgsm",
    "--epsilon",
    "0.3",
    "--dataset",
    digits,
    "--samples",
    "12",
    "--targets",
    "pc/strict,pc/fast",
    "--quiet",
    "-o",
    attack,
  ]);
  assert.equal(attacked.status, 0, attacked.stderr);
  const lines = ["idle", "view Study", "frames 3", "view Attack", "frames 3", "expect noerror"];
  const shown = gui(folder, [`open ${results}`, `open ${attack}`, ...lines, "size 640 480", ...lines]);
  assert.equal(shown.status, 0, shown.stderr);
  writeFileSync(join(attack, "attack.json"), '{"format": "driftscope-attack-1"}');
  const bad = gui(folder, [`open ${attack}`, "idle", "expect error attack.json"]);
  assert.equal(bad.status, 0, bad.stderr);
});
