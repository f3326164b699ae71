// Graph models as TensorFlow's converter writes them: what our reader makes of an operator, beside what
// TensorFlow.js computes from the same file.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { run, temporaryFolder } from "../support.mjs";
import { compare } from "./cases.mjs";
import { peerOf } from "./peers.mjs";
import { readSafetensors, writeSafetensors } from "./safetensors.mjs";

const arrays = { float32: Float32Array, int32: Int32Array };
const types = { float32: "DT_FLOAT", int32: "DT_INT32" };

/** model.json with one operator y of these inputs. */
function graphModel(op, inputs) {
  const node = Object.entries(inputs).map(([name, { dtype, shape }]) => ({
    name,
    op: "Placeholder",
    attr: {
      dtype: { type: types[dtype] },
      shape: { shape: { dim: shape.map((size) => ({ size: String(size) })) } },
    },
  }));
  node.push({ name: "y", op, input: Object.keys(inputs) });
  return {
    format: "graph-model",
    signature: { outputs: { y: { name: "y:0" } } },
    modelTopology: { node, library: {}, versions: {} },
    weightsManifest: [{ paths: [], weights: [] }],
  };
}

const cases = {
  DivNoNan_OfFloats: [
    "DivNoNan",
    { a: ["float32", [6], [1, -3, 0, NaN, Infinity, 5]], b: ["float32", [6], [2, 0, 0, 0, 0, -2]] },
  ],
  DivNoNan_OfIntegers: [
    "DivNoNan",
    { a: ["int32", [2, 3], [7, -7, 0, 5, -8, 9]], b: ["int32", [3], [2, 2, 0]] },
  ],
};

test("Readers_Operators_ComputeWhatTensorFlowJsDoes", async (t) => {
  const peer = await peerOf("cpu");
  for (const [name, [op, given]] of Object.entries(cases))
    await t.test(name, async (inner) => {
      const folder = temporaryFolder(inner);
      const inputs = Object.fromEntries(
        Object.entries(given).map(([key, [dtype, shape, values]]) => [
          key,
          { dtype, shape, data: arrays[dtype].from(values) },
        ]),
      );
      const model = Buffer.from(JSON.stringify(graphModel(op, inputs)));
      const session = await peer.open({
        converted: [{ name: "model.json", data: new Uint8Array(model) }],
        options: {},
        threads: 1,
      });
      const feeds = Object.fromEntries(
        Object.entries(inputs).map(([key, { dtype, shape, data }]) => [
          key,
          peer.tensor(dtype, shape, data.slice().buffer),
        ]),
      );
      const { values } = await peer.run(session, feeds, ["y"]);
      peer.release(session);
      const [file, input, trace] = ["model.json", "in.safetensors", "out.safetensors"].map((one) =>
        join(folder, one),
      );
      writeFileSync(file, model);
      writeFileSync(input, writeSafetensors(inputs));
      const ran = run(["run", file, "--input", input, "--target", "pc/strict", "--trace", trace]);
      assert.equal(ran.status, 0, ran.stderr);
      const { y } = readSafetensors(new Uint8Array(readFileSync(trace)));
      assert.equal(compare(y, values[0]), null);
    });
});
