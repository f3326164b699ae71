// Training curves in the window: charts, the distance of layers, tables; bad files.
import assert from "node:assert/strict";
import { mkdirSync, copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { writeTable, writeTraining } from "../curve_files.mjs";
import { root, temporaryFolder } from "../support.mjs";
import { differing } from "./png.mjs";
import { gui, hasGui, picture } from "./support.mjs";

const skip = !hasGui && "built without the GUI";

/** Share of the pixels that have this hue: every channel within 40 of it. */
function shareOf({ pixels }, colour) {
  let count = 0;
  for (let i = 0; i < pixels.length; i += 4)
    count += colour.every((value, c) => Math.abs(pixels[i + c] - value) <= 40) ? 1 : 0;
  return count / (pixels.length / 4);
}

test("training curves are opened from files and folders, and saved as table and picture", { skip }, (t) => {
  const folder = temporaryFolder(t);
  const training = writeTraining(join(folder, "study"));
  const table = writeTable(join(folder, "table.csv"));
  const events = join(folder, "logs", "train");
  mkdirSync(events, { recursive: true });
  copyFileSync(
    join(root, "tests", "data", "curves", "tensor.tfevents"),
    join(events, "events.out.tfevents.1.host"),
  );
  writeFileSync(join(folder, "history.json"), '{"val_loss": [2, 1, NaN]}');
  const shots = (name) => ["size 1280 800", "frames 3", `shot ${name}.png`, "size 640 480", "frames 3"];
  const done = gui(folder, [
    "idle",
    "view Curves",
    "frames 3",
    "shot empty.png",
    `open ${table}`,
    "idle",
    "expect noerror",
    "expect view Curves",
    ...shots("table"),
    "key Ctrl+S",
    "key Ctrl+E",
    "frames 2",
    "view Run",
    `open ${join(folder, "logs")}`,
    "idle",
    "expect noerror",
    "expect view Curves",
    "view Run",
    "open history.json",
    "idle",
    "expect view Curves",
    `open ${training}`,
    "idle",
    "expect noerror",
    ...shots("training"),
    "size 1280 800",
    // The distance of the layers is below loss, test loss, accuracy and two kinds of drift.
    "frames 3",
    "click 60 236",
    "frames 3",
    "mouse 420 240",
    "frames 3",
    "mouse 10 700",
    "frames 3",
    "shot layers.png",
    "key Ctrl+C",
    "key Ctrl+S",
    "frames 2",
  ]);
  assert.equal(done.status, 0, done.stderr);
  const [header, first] = readFileSync(join(folder, "driftscope-curves.csv"), "utf8").split("\r\n");
  assert.equal(header, "run,metric,repetition,step,value");
  assert.equal(first, "adam,val_loss,0,0,2");
  const svg = readFileSync(join(folder, "driftscope-curves.svg"), "utf8");
  assert.match(svg, />adam</);
  assert.equal(svg.match(/<polygon/g).length, 2 * 19); // the bands of two runs
  const layers = readFileSync(join(folder, "driftscope-curves-2.csv"), "utf8").split("\r\n");
  assert.equal(layers[0], "networks,layer,epoch,distance");
  assert.ok(layers.some((line) => line === "lenet1: jax and pytorch,conv2,3,0.006"));
  const empty = picture(folder, "empty.png");
  assert.ok(differing(picture(folder, "table.png"), empty, 15) > 0.05, "lines and bands");
  assert.ok(differing(picture(folder, "training.png"), empty, 15) > 0.02, "lines and bands");
  // What is farthest apart is viridis' yellow: 4 layers in 3 of 6 epochs.
  const yellow = [253, 231, 37];
  const cells = shareOf(picture(folder, "layers.png"), yellow);
  assert.ok(cells > 0.004 && cells < 0.02, `${cells}`);
  assert.ok(shareOf(picture(folder, "training.png"), yellow) < 0.0005);
});

test("files that are no curves say what was expected, and what is open stays", { skip }, (t) => {
  const folder = temporaryFolder(t);
  writeTable(join(folder, "table.csv"));
  writeFileSync(join(folder, "bad.csv"), "epoch,loss\n1,2\n2,high\n");
  writeFileSync(join(folder, "empty.csv"), "");
  writeFileSync(join(folder, "other.json"), '{"loss": "low"}');
  mkdirSync(join(folder, "broken"));
  writeFileSync(join(folder, "broken", "training.json"), '{"format": "driftscope-training-1", "seed": "x"}');
  const bad = (path, message) => [`open ${path}`, "idle", `expect error ${message}`];
  const done = gui(folder, [
    "open table.csv",
    "idle",
    "expect noerror",
    ...bad("bad.csv", "bad.csv: line 3"),
    ...bad("empty.csv", "not a file of training curves (0 bytes"),
    ...bad("other.json", "expected the history of Keras"),
    ...bad("broken", "broken/training.json"),
    "view Curves",
    "key Ctrl+S",
    "frames 2",
  ]);
  assert.equal(done.status, 0, done.stderr);
  assert.match(readFileSync(join(folder, "driftscope-curves.csv"), "utf8"), /adam,val_loss/);
});
