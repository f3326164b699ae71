// What the writers make of operators that the formats lack: run by TensorFlow.js and by LiteRT.js, beside
// what ONNX Runtime, or where it is not installed the strict engine, computes from the ONNX file.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { onnxModel } from "../onnx_model.mjs";
import { run, temporaryFolder } from "../support.mjs";
import { installed, peerOf as litertPeer } from "../../web/node/litert/peers.mjs";
import { compare } from "./cases.mjs";
import { exportModel, runExported } from "./exported_model.mjs";
import { peerOf } from "./peers.mjs";
import { readSafetensors, writeSafetensors } from "./safetensors.mjs";

const float = (...shape) => ({ dtype: "float32", shape });
const arrays = {
  float32: Float32Array,
  int32: Int32Array,
  int64: BigInt64Array,
  int8: Int8Array,
  uint8: Uint8Array,
  bool: Uint8Array,
};

/** Numbers that look random and are the same each time. */
function noise(count, low, high, whole = false) {
  let state = 12345;
  return Array.from({ length: count }, () => {
    state = (state * 1103515245 + 12345) % 2147483648;
    const value = low + (state / 2147483648) * (high - low);
    return whole ? Math.round(value) : Math.fround(value);
  });
}
const tensor = (dtype, shape, values) => ({ dtype, shape, values });
const floats = (shape, low = -2, high = 2) =>
  tensor(
    "float32",
    shape,
    noise(
      shape.reduce((a, b) => a * b, 1),
      low,
      high,
    ),
  );
const integers = (dtype, shape, low, high) =>
  tensor(
    dtype,
    shape,
    noise(
      shape.reduce((a, b) => a * b, 1),
      low,
      high,
      true,
    ),
  );

/** A model of one operator: `inputs` are fed, `constants` are in the file. */
const one = (op, inputs, attributes, outputs, constants = {}, order = undefined, opset = 18) => ({
  graph: {
    nodes: [
      [op, order ?? [...Object.keys(inputs), ...Object.keys(constants)], Object.keys(outputs), attributes],
    ],
    constants,
    inputs,
    outputs,
  },
  feeds: inputs,
  opset,
});

// LiteRT.js passes no bool: they enter and leave a model as int32.
const truth = (op, x, attributes = {}, constants = {}) => ({
  graph: {
    nodes: [
      [op, ["x", ...Object.keys(constants)], ["t"], attributes],
      ["Cast", ["t"], ["y"], { to: 6 }],
    ],
    constants,
    inputs: { x },
    outputs: { y: { dtype: "int32", shape: x.shape } },
  },
});

const branch = (nodes, constants = {}) => ({ nodes, constants, outputs: { b: float(2, 3) } });
const choice = (condition) => ({
  graph: {
    nodes: [
      ["Cast", ["n"], ["c"], { to: 9 }],
      [
        "If",
        ["c"],
        ["y"],
        {
          then_branch: branch(
            [
              ["Relu", ["x"], ["r"]],
              ["Add", ["r", "k"], ["b"]],
            ],
            { k: tensor("float32", [1], [3]) },
          ),
          else_branch: branch([["Neg", ["x"], ["b"]]]),
        },
      ],
      ["Mul", ["y", "y"], ["z"]],
    ],
    inputs: { x: floats([2, 3]), n: tensor("int32", [1], [condition]) },
    outputs: { y: float(2, 3), z: float(2, 3) },
  },
});
// The condition follows from the shape of x alone; the branch that is not taken would not even fit.
const byShape = {
  graph: {
    nodes: [
      ["Shape", ["x"], ["s"]],
      ["Gather", ["s", "at"], ["n"]],
      ["Equal", ["n", "one"], ["c"]],
      [
        "If",
        ["c"],
        ["y"],
        {
          then_branch: { nodes: [["Squeeze", ["x", "at"], ["b"]]], outputs: { b: { dtype: "float32" } } },
          else_branch: { nodes: [["Identity", ["x"], ["b"]]], outputs: { b: { dtype: "float32" } } },
        },
      ],
    ],
    constants: { at: tensor("int64", [1], [1]), one: tensor("int64", [1], [1]) },
    inputs: { x: floats([2, 1, 3]) },
    outputs: { y: { dtype: "float32" } },
  },
};
// Sizes that are computed from those of x, with start and end of Shape.
const bySizes = {
  graph: {
    nodes: [
      ["Shape", ["x"], ["s"], { start: 1, end: 2 }],
      ["Sub", ["s", "one"], ["end"]],
      ["Slice", ["x", "one", "end", "one"], ["y"]],
      ["Size", ["x"], ["n"]],
      ["Reshape", ["n", "one"], ["count"]],
      ["ConstantOfShape", ["count"], ["z"], { value: tensor("float32", [1], [2.5]) }],
    ],
    constants: { one: tensor("int64", [1], [1]) },
    inputs: { x: floats([2, 5]) },
    outputs: { y: float(2, 3), z: float(10) },
  },
};
// The file declares how many there are; where they begin is an input.
const slice = (start, step) => ({
  graph: {
    nodes: [
      ["Add", ["start", step < 0 ? "back" : "three"], ["end"]],
      ["Slice", ["x", "start", "end", "axis", "step"], ["y"]],
    ],
    constants: {
      three: tensor("int64", [1], [3]),
      back: tensor("int64", [1], [-4]),
      axis: tensor("int64", [1], [1]),
      step: tensor("int64", [1], [step]),
    },
    inputs: { x: floats([2, 6]), start: tensor("int64", [1], [start]) },
    outputs: { y: float(2, step < 0 ? 2 : 3) },
  },
});
const scatter = (op, reduction, indices, updates, dtype = "float32", axis = undefined) => {
  const x = dtype === "float32" ? floats([3, 4]) : integers(dtype, [3, 4], -5, 5);
  return one(
    op,
    { x, i: tensor("int64", ...indices), u: tensor(dtype, ...updates) },
    { ...(reduction && { reduction }), ...(axis !== undefined && { axis }) },
    { y: { dtype, shape: [3, 4] } },
  );
};
const product = (a, b, inputs, constants, zeros = {}) => {
  const shapes = [a.shape.slice(0, -1), b.shape.slice(-1)].flat();
  return one(
    "MatMulInteger",
    { a, ...inputs },
    {},
    { y: { dtype: "int32", shape: shapes } },
    { ...constants, ...zeros },
    ["a", "b", ...(zeros.p ? ["p", "q"] : [])],
  );
};
const far = 2n ** 63n - 1n;

const special = tensor("float32", [4], [NaN, Infinity, -Infinity, 0]);
const extremes = tensor("int64", [3], [2147483647, -2147483648, 0]);
const weights = integers("int8", [700, 5], -128, 127);
const left = integers("uint8", [2, 3, 700], 0, 255);
// 1.0009765625, 0.0999755859375 and the least number; results that are tiny and infinite among them.
const halves = {
  graph: {
    nodes: [
      ["Cast", ["x"], ["h"], { to: 10 }],
      ["Mul", ["h", "w"], ["p"]],
      ["Cast", ["p"], ["y"], { to: 1 }],
    ],
    constants: { w: tensor("float16", [3], [0x3c01, 0x2e66, 0x0001]) },
    inputs: { x: tensor("float32", [3, 3], [0.3, 1.7, 3, -65504, 2e-4, 0.5, 1e-5, -3e5, 65519]) },
    outputs: { y: float(3, 3) },
  },
};
const cases = {
  Float16: halves,
  Reciprocal: one("Reciprocal", { x: floats([2, 3], 0.5, 3) }, {}, { y: float(2, 3) }),
  IsNaN: truth("IsNaN", special),
  IsInf: truth("IsInf", special),
  IsInf_Negative: truth("IsInf", special, { detect_positive: 0 }),
  IsInf_Positive: truth("IsInf", special, { detect_negative: 0 }),
  IsInf_Never: truth("IsInf", special, { detect_positive: 0, detect_negative: 0 }),
  If_True: choice(1),
  If_False: choice(0),
  If_ByShape: byShape,
  Sizes: bySizes,
  Slice_From1: slice(1, 1),
  Slice_FromTheEnd: slice(-5, 1),
  Slice_Backwards: slice(4, -2),
  Slice_ToTheLargestInteger: one(
    "Slice",
    { x: floats([2, 6]) },
    {},
    { y: float(2, 5) },
    {
      from: tensor("int64", [1], [1]),
      to: tensor("int64", [1], [far]),
      axis: tensor("int64", [1], [1]),
    },
  ),
  ScatterElements_Add: scatter(
    "ScatterElements",
    "add",
    [
      [2, 4],
      [0, 1, 2, 0, 0, 2, -1, 0],
    ],
    [[2, 4], noise(8, -1, 1)],
    "float32",
    0,
  ),
  ScatterElements_AddOfIntegers: scatter(
    "ScatterElements",
    "add",
    [
      [3, 2],
      [0, 0, 1, 3, -1, 2],
    ],
    [
      [3, 2],
      [1, 2, 3, 4, 5, 6],
    ],
    "int32",
    1,
  ),
  ScatterElements: scatter(
    "ScatterElements",
    "",
    [
      [3, 2],
      [0, 1, 1, 3, -1, 2],
    ],
    [[3, 2], noise(6, -1, 1)],
    "float32",
    1,
  ),
  ScatterND_Add: scatter(
    "ScatterND",
    "add",
    [
      [3, 1],
      [2, 0, 2],
    ],
    [[3, 4], noise(12, -1, 1)],
  ),
  ScatterND: scatter(
    "ScatterND",
    "",
    [
      [2, 2],
      [2, 0, -1, 3],
    ],
    [[2], [7, 0]],
  ),
  MatMulInteger_Weights: product(
    left,
    weights,
    {},
    { b: weights },
    { p: tensor("uint8", [], [117]), q: integers("int8", [5], -9, 9) },
  ),
  MatMulInteger_Computed: product(
    integers("uint8", [2, 300], 0, 255),
    weights,
    { b: integers("uint8", [300, 5], 0, 255) },
    {},
  ),
  MatMulInteger_Vector: product(integers("uint8", [700], 0, 255), weights, {}, { b: weights }),
  Max_BeyondInt32: one(
    "Max",
    { x: integers("int64", [4], -9, 9) },
    {},
    { y: { dtype: "int64", shape: [4] } },
    { low: tensor("int64", [1], [-(2n ** 40n)]) },
  ),
  Less_BeyondInt32: truth("Less", extremes, {}, { high: tensor("int64", [], [2n ** 40n]) }),
  LessOrEqual_BeyondInt32: truth("LessOrEqual", extremes, {}, { low: tensor("int64", [], [-(2n ** 40n)]) }),
  Greater_BeyondInt32: truth("Greater", extremes, {}, { low: tensor("int64", [], [-(2n ** 40n)]) }),
  Equal_BeyondInt32: truth("Equal", extremes, {}, { low: tensor("int64", [], [-(2n ** 40n)]) }),
};

const ort = /yes +pc\/ort /.test(run(["doctor"]).stdout);

/** Outputs by name as the reference computes them, from the ONNX file. */
function expected(folder, file, feeds, target) {
  const [input, trace] = ["in.safetensors", "out.safetensors"].map((name) => join(folder, name));
  writeFileSync(input, writeSafetensors(feeds));
  const result = run(["run", file, "--input", input, "--target", target, "--trace", trace]);
  assert.equal(result.status, 0, result.stderr);
  return readSafetensors(new Uint8Array(readFileSync(trace)));
}

const peers = {
  tfjs: async () => peerOf("cpu"),
  tflite: async () => (installed() ? litertPeer("wasm") : null),
};

for (const [format, load] of Object.entries(peers))
  test(`Writers_${format}_ComputeWhatTheOnnxFileDoes`, async (t) => {
    const peer = await load();
    if (!peer) return t.skip("skipped: LiteRT.js is not installed");
    for (const [name, { graph, opset }] of Object.entries(cases))
      await t.test(name, (inner) => {
        const folder = temporaryFolder(inner);
        const file = join(folder, "model.onnx");
        writeFileSync(file, onnxModel(graph, opset));
        const feeds = Object.fromEntries(
          Object.entries(graph.inputs).map(([key, { dtype, shape, values }]) => [
            key,
            { dtype, shape, data: arrays[dtype].from(values, dtype === "int64" ? BigInt : Number) },
          ]),
        );
        // ONNX Runtime drops a Cast to float16 and back, and with it a rounding; on processors without
        // VNNI its integer products saturate at 16 bits.
        const others = name === "Float16" || name.startsWith("MatMulInteger");
        const target = ort && !others ? "pc/ort" : "pc/strict";
        const wanted = expected(folder, file, feeds, target);
        const model = exportModel(file, { format });
        assert.equal(model.error, undefined);
        const nearZero = name === "Float16" ? 0 : 1e-5;
        return runExported(peer, model, feeds).then(({ results }) => {
          for (const output of Object.keys(graph.outputs))
            assert.equal(compare(results[output], wanted[output], 1e-5, nearZero), null, output);
        });
      });
  });

test("Writers_WhatHasNoEquivalent_IsRefusedWithTheOperatorAndTheReason", (t) => {
  const file = join(temporaryFolder(t), "model.onnx");
  const refused = ({ graph, opset }, reason) => {
    writeFileSync(file, onnxModel(graph, opset));
    for (const format of Object.keys(peers)) {
      const { error, status } = exportModel(file, { format });
      assert.equal(status, 2, format);
      assert.match(error, reason);
    }
  };
  refused(
    scatter(
      "ScatterElements",
      "mul",
      [
        [1, 2],
        [0, 1],
      ],
      [
        [1, 2],
        [1, 2],
      ],
    ),
    /ScatterElements_y .* has no scatter with the reduction mul, only none and add/,
  );
  const gathers = structuredClone(choice(1));
  gathers.graph.inputs.i = tensor("int64", [2], [0, 1]);
  gathers.graph.nodes[1][3].else_branch = branch([["Gather", ["x", "i"], ["b"]]]);
  refused(gathers, /If_y .*both branches cannot be computed: node Gather_b .*may fail/);
  const beyond = one(
    "Add",
    { x: integers("int64", [2], -9, 9) },
    {},
    { y: { dtype: "int64", shape: [2] } },
    { k: tensor("int64", [1], [2n ** 40n]) },
  );
  refused(beyond, /1099511627776, which does not fit int32/);
});
