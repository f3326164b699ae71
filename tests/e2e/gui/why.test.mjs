// The panel Why: the cause of a wrong layer, its errors as a picture, what is made of it.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";

import { asset, readSafetensors, run, temporaryFolder, writeSafetensors } from "../support.mjs";
import { differing } from "./png.mjs";
import { gui, hasGui, picture } from "./support.mjs";

const skip = !hasGui && "built without the GUI";
const model = asset("models", "lenet5.onnx");

/** A run whose first convolution is changed, and the name of its node. */
function spoiled(folder, change) {
  const path = join(folder, "wrong.safetensors");
  assert.equal(run(["run", model, "--target", "pc/strict", "--trace", path]).status, 0);
  const { layers } = JSON.parse(run(["verify", model, path, "--quiet", "--json", "-"]).stdout);
  const conv = layers.find(({ op }) => op === "Conv");
  const { metadata, tensors } = readSafetensors(path);
  const { bytes } = tensors.get(conv.output);
  change(new Float32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4), conv.shape);
  writeSafetensors(path, tensors, metadata);
  return conv.node;
}

const lastChannel = (values, shape) => values.fill(0, values.length - shape[2] * shape[3]);
function noise(values, shape) {
  for (let i = 0; i < values.length; ++i) {
    const [row, column] = [Math.floor(i / shape[3]) % shape[2], i % shape[3]];
    if (row >= 8 && row < 16 && column >= 16) values[i] = Math.sin(i) * 3;
  }
}

const command = (name) => ["key Ctrl+K", "frames 2", `type ${name}`, "frames 2", "key Enter", "frames 2"];

test("a wrong layer has a panel that says why, and its errors as a picture", { skip }, (t) => {
  const folder = temporaryFolder(t);
  const node = spoiled(folder, lastChannel);
  const done = gui(folder, [
    `open ${model}`,
    "idle",
    "open wrong.safetensors",
    "idle",
    "expect noerror",
    "view Layers",
    `expect layer ${node}`,
    "frames 3",
    "shot cause.png",
    "key Down",
    "frames 3",
    "shot right.png",
    "key Up",
    ...command("Test whether"),
    "idle",
    "frames 3",
    "shot matters.png",
    ...command("Reduce this"),
    "idle",
    "frames 3",
    "shot reduced.png",
    "size 700 700",
    "frames 4",
    "shot narrow.png",
  ]);
  assert.equal(done.status, 0, done.stderr);
  const cause = picture(folder, "cause.png");
  assert.ok(differing(cause, picture(folder, "right.png"), 15) > 0.02, "the panel");
  assert.ok(differing(cause, picture(folder, "matters.png"), 15) > 0.001, "the causal test");
  assert.ok(differing(picture(folder, "matters.png"), picture(folder, "reduced.png"), 15) > 0.001, "why not");
});

test("where no hypothesis explains it, the panel shows the blocks that are wrong", { skip }, (t) => {
  const folder = temporaryFolder(t);
  spoiled(folder, noise);
  const done = gui(folder, [
    `open ${model}`,
    "idle",
    "open wrong.safetensors",
    "idle",
    "view Layers",
    "frames 3",
    "shot unknown.png",
    "key T",
    "frames 3",
    "shot light.png",
  ]);
  assert.equal(done.status, 0, done.stderr);
  // Strong red of the cells, on both grounds.
  for (const name of ["unknown.png", "light.png"]) {
    const { pixels } = picture(folder, name);
    let red = 0;
    for (let i = 0; i < pixels.length; i += 4)
      red += pixels[i] > pixels[i + 1] + 60 && pixels[i] > pixels[i + 2] + 60 ? 1 : 0;
    assert.ok(red > 2000, `${name}: ${red} pixels`);
  }
});
