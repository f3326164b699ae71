// How the page turns a picture into a tensor, and a tensor into a file.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { writeSafetensors } from "../../../web/shared/safetensors.mjs";
import { loadSet, preprocess, setFor } from "../../../web/page/samples.mjs";
import { asset, readSafetensors, run, temporaryFolder } from "../../e2e/support.mjs";

const readAsset = async (file) => new Uint8Array(readFileSync(asset(file)));
const describe = (model) => JSON.parse(readFileSync(asset("models", `${model}.preprocess.json`), "utf8"));

for (const [model, source] of [
  ["lenet5", "idx:" + asset("data", "digits-test-images.idx3-ubyte")],
  ["lenet1", "idx:" + asset("data", "digits-test-images.idx3-ubyte")],
  ["resnet20", "cifar10:" + asset("data", "generated-cifar10-test.bin")],
  ["vgg16", "cifar10:" + asset("data", "generated-cifar10-test.bin")],
]) {
  test(`${model}: the page's input has the bits of the PC's`, async (t) => {
    const description = describe(model);
    const samples = await loadSet(setFor(description), readAsset);
    const trace = join(temporaryFolder(t), "trace.safetensors");
    const done = run([
      "run",
      asset("models", `${model}.onnx`),
      "--input",
      `${source}#17`,
      "--target",
      "pc/strict",
      "--trace",
      trace,
    ]);
    assert.equal(done.status, 0, done.stderr);
    const values = preprocess(samples.pixels(17), description);
    const native = readSafetensors(trace).tensors.get(description.input);
    assert.ok(native.bytes.equals(Buffer.from(values.buffer)));
  });
}

test("models of texts, and of pixels, have no test set of pictures here", () => {
  for (const model of ["lstm", "transformer", "unet"]) assert.equal(setFor(describe(model)), null);
});

test("a truncated image file is rejected", async () => {
  const cut = async (file) => (await readAsset(file)).subarray(0, 1000);
  await assert.rejects(loadSet(setFor(describe("lenet5")), cut), /do not fit together/);
});

test("a safetensors file is read back", async (t) => {
  const values = new Float32Array([1.5, -2, 3]);
  const path = join(temporaryFolder(t), "x.safetensors");
  writeFileSync(path, writeSafetensors([{ name: "näme", shape: [3], values }]));
  const tensor = readSafetensors(path).tensors.get("näme");
  assert.deepEqual(tensor.shape, [3]);
  assert.ok(tensor.bytes.equals(Buffer.from(values.buffer)));
});
