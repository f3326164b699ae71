// A generation in the window: the map of steps and layers, tokens above it, table and picture; bad files.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { asset, run, temporaryFolder } from "../support.mjs";
import { differing } from "./png.mjs";
import { gui, hasGui, picture } from "./support.mjs";

const skip = !hasGui && "built without the GUI";

/** What generate keeps, with a layer that is wrong from a step on and a token that differs because of it. */
function kept(folder) {
  const keep = join(folder, "steps");
  const made = run([
    "generate",
    asset("models", "decoder", "model.onnx"),
    ...["--prompt", "12,40,7", "--prompt", "30,31", "--steps", "6", "--targets", "pc/fast"],
    ...["--measure", "0", "--quiet", "--keep", keep],
  ]);
  assert.equal(made.status, 0, made.stderr);
  const right = readFileSync(join(keep, "generate.json"), "utf8");
  const document = JSON.parse(right);
  const [, target] = document.targets;
  const layer = target.layers.indexOf("present.1.value");
  const [sequence] = target.sequences;
  for (const step of sequence.steps.slice(3)) {
    step.layers = `${step.layers.slice(0, layer)}x${step.layers.slice(layer + 1)}`;
    step.verdict = "fault";
    step.first_fault = "spoiled";
  }
  Object.assign(sequence.steps[4], { token: 77, flip: "fault", moved: 0.5 });
  Object.assign(target.sequences[1].steps[1], { token: 78, flip: "rounding", moved: 1e-7 });
  writeFileSync(join(folder, "wrong.json"), JSON.stringify(document));
  return { keep, layers: target.layers.length };
}

test("a generation opens as a map of steps and layers, from a folder and from a file", { skip }, (t) => {
  const folder = temporaryFolder(t);
  const { keep } = kept(folder);
  const done = gui(folder, [
    "idle",
    "view Generation",
    "frames 3",
    "shot empty.png",
    "view Run",
    `open ${keep}`,
    "idle",
    "expect noerror",
    "expect view Generation",
    "frames 3",
    "shot right.png",
    "view Run",
    "open wrong.json",
    "idle",
    "expect noerror",
    "expect view Generation",
    "frames 3",
    "shot wrong.png",
    "key Ctrl+S",
    "key Ctrl+E",
    "frames 2",
    "mouse 700 400",
    "frames 3",
    "shot tooltip.png",
    "size 420 700",
    "frames 4",
    "shot narrow.png",
  ]);
  assert.equal(done.status, 0, done.stderr);
  const rows = readFileSync(join(folder, "driftscope-generation.csv"), "utf8").trim().split("\r\n");
  assert.match(rows[0], /^target,prompt,step,token,reference,lead,moved by,memory,verdict/);
  assert.equal(rows.length, 1 + 2 * 2 * 6);
  const flips = rows.filter((row) => /,(fault|rounding),(spoiled)?$/.test(row));
  assert.ok(rows.some((row) => /^pc\/fast,0,4,"?77\b.*,fault,fault,spoiled$/.test(row)));
  assert.equal(flips.length, 2);
  const svg = readFileSync(join(folder, "driftscope-generation.svg"), "utf8");
  assert.match(svg, />prompt 1</);
  assert.match(svg, /present\.1\.value/);
  assert.match(svg, />instead of</);
  const wrong = picture(folder, "wrong.png");
  assert.ok(differing(wrong, picture(folder, "empty.png"), 15) > 0.05, "a map");
  assert.ok(differing(wrong, picture(folder, "right.png"), 15) > 0.001, "faults and flips");
  assert.ok(differing(wrong, picture(folder, "tooltip.png"), 15) > 0.005, "a tooltip");
});

test("what is no generation says what is wrong, and what is open stays", { skip }, (t) => {
  const folder = temporaryFolder(t);
  kept(folder);
  writeFileSync(join(folder, "bad.json"), '{"format": "driftscope-generate-1", "model": "m"}');
  writeFileSync(join(folder, "next.json"), '{"format": "driftscope-generate-2"}');
  const done = gui(folder, [
    "open wrong.json",
    "idle",
    "expect noerror",
    "open bad.json",
    "idle",
    "expect error bad.json: the document",
    "open next.json",
    "idle",
    'expect error "format": "driftscope-generate-1"',
    "view Generation",
    "key Ctrl+S",
    "frames 2",
  ]);
  assert.equal(done.status, 0, done.stderr);
  assert.match(readFileSync(join(folder, "driftscope-generation.csv"), "utf8"), /spoiled/);
});
