// Models as TensorFlow.js computes them, every layer verified: exported by the program, run by the adapter of
// web/peers under Node, without the built page.
import assert from "node:assert/strict";
import { test } from "node:test";

import { asset, sanitized } from "../support.mjs";
import { peerOf } from "./peers.mjs";
import { verifyLayers } from "./layers.mjs";

// Convolutions, residual connections with normalizations, transposed and resized ones, text, recurrence,
// attention.
const models = ["lenet5", "resnet20", "unet", "textcnn", "gru", "lstm", "transformer", "resnet20-int8"];

const skip = sanitized && "repeats the other build's for minutes";

test("TfjsWasm_ShippedModels_AreRoundedOnlyInEveryLayer", { skip }, async (t) => {
  const peer = await peerOf("wasm");
  for (const model of models)
    await t.test(model, async () => {
      const { report, values } = await verifyLayers(peer, asset("models", `${model}.onnx`));
      assert.ok(values > 5, `${values} values`);
      assert.equal(report.first_fault, null);
      assert.equal(report.verdict, "rounding");
      const bad = report.layers.filter(({ verdict }) => !["rounding", "identical"].includes(verdict));
      assert.deepEqual(bad, []);
    });
  assert.equal(peer.about().options.leaked_tensors, undefined);
  assert.equal(peer.about().options.backend, "wasm");
});
