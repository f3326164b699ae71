// The calls that build a WebNN graph, as JavaScript: run on another builder they make the same calls.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Calls } from "../../../web/peers/webnn/calls.mjs";
import { operators as conv } from "../../../web/peers/webnn/operators/conv.mjs";
import { Translation } from "../../../web/peers/webnn/translation.mjs";

// A builder that keeps what it is given, operands as their numbers.
function recorder() {
  const calls = [];
  const numbers = new Map();
  const plain = (value) => {
    if (numbers.has(value)) return `operand ${numbers.get(value)}`;
    if (ArrayBuffer.isView(value)) return [...new Uint8Array(value.buffer.slice(value.byteOffset))];
    if (value instanceof ArrayBuffer) return [...new Uint8Array(value)];
    if (Array.isArray(value)) return value.map(plain);
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(
      Object.entries(value)
        .filter(([name]) => name !== "label")
        .map(([name, item]) => [name, plain(item)]),
    );
  };
  const made = (method, given, type) => {
    calls.push([method, ...given.map(plain)]);
    const operand = { dataType: type.dataType, shape: type.shape };
    numbers.set(operand, numbers.size);
    return operand;
  };
  return {
    calls,
    input: (name, type) => made("input", [name, type], type),
    constant: (type, data) => made("constant", [type, data], type),
    conv2d: (x, w, options) => made("conv2d", [x, w, options], { dataType: "float32", shape: [1, 4, 4, 3] }),
    clamp: (x, options) => made("clamp", [x, options], x),
    async build(outputs) {
      calls.push(["build", plain(outputs)]);
    },
  };
}

function bytes(count, from) {
  return new Uint8Array(Float32Array.from({ length: count }, (_, i) => i + from).buffer);
}

// A convolution with weights that are a file and a bias that is short.
const graph = {
  inputs: ["x0"],
  outputs: ["y"],
  values: {
    x0: { dtype: "float32", shape: [1, 3, 6, 5] },
    y: { dtype: "float32", shape: [1, 4, 4, 3] },
  },
  constants: {
    w0: { dtype: "float32", shape: [4, 3, 3, 3], data: bytes(108, 1) },
    w1: { dtype: "float32", shape: [4], data: bytes(4, 500) },
  },
  nodes: [
    {
      name: "n0",
      op: "Conv",
      opset: 14,
      inputs: ["x0", "w0", "w1"],
      outputs: ["y"],
      attributes: { strides: [1, 1] },
    },
  ],
};

test("Calls_OfAConvolution_RunOnAPlainPageMakeTheSameGraph", async () => {
  const first = recorder();
  const calls = new Calls(graph.constants);
  const outputs = new Translation(calls.around(first), {}, graph, conv).run();
  const text = calls.text(outputs);
  assert.match(text, /builder\.constant\(.*\(await load\("w0\.npy"\)\)\.data\)/);
  assert.match(text, /new Float32Array\(\[500, 501, 502, 503\]\)/);
  assert.doesNotMatch(text, /label/);

  const second = recorder();
  const types = {};
  const load = async (name) => ({ data: new Float32Array(graph.constants[name.slice(0, -4)].data.buffer) });
  const run = Object.getPrototypeOf(async () => {}).constructor;
  await new run("builder", "types", "load", text)(second, types, load);
  assert.deepEqual(types, { x0: { dataType: "float32", shape: [1, 3, 6, 5] } });
  const build = second.calls.pop();
  assert.equal(build[0], "build");
  assert.deepEqual(Object.keys(build[1]), ["y"]);
  assert.deepEqual(second.calls, first.calls);
});

test("Calls_NumbersThatJsonLacks_AreWrittenAsTheyAre", () => {
  const builder = recorder();
  const calls = new Calls({});
  const noted = calls.around(builder);
  const x = noted.input("x 1", { dataType: "int64", shape: [2] });
  const limits = { minValue: -Infinity, maxValue: -0 };
  const y = noted.clamp(x, limits);
  const z = noted.constant({ dataType: "int64", shape: [1] }, new BigInt64Array([-(2n ** 62n)]).buffer);
  const text = calls.text({ y, "an output": z });
  assert.match(text, /minValue: -Infinity, maxValue: -0/);
  assert.match(text, /new BigInt64Array\(\[-4611686018427387904n\]\)/);
  assert.match(text, /types\["x 1"\] = /);
  assert.match(text, /const y = o1;/);
  assert.match(text, /build\(\{ y, "an output": o2 \}\)/);
});
