// The numbers that the WebNN adapter hands over: padding, slices, places of a resize, the order of recurrent
// weights. What WebNN makes of them is tested in a browser (tests/e2e/browsers/webnn.test.mjs).
import assert from "node:assert/strict";
import { test } from "node:test";
import { operators as normalization } from "../../../web/peers/webnn/operators/normalization.mjs";
import { operators as recurrent } from "../../../web/peers/webnn/operators/recurrent.mjs";
import { nearest, source } from "../../../web/peers/webnn/operators/resize.mjs";
import { operators as activation } from "../../../web/peers/webnn/operators/activation.mjs";
import { operators as shapeOperators, sliceAxis } from "../../../web/peers/webnn/operators/shape.mjs";
import { transposedPads } from "../../../web/peers/webnn/operators/conv.mjs";
import { Translation } from "../../../web/peers/webnn/translation.mjs";
import { paddingOf, widened, windowOf } from "../../../web/peers/webnn/window.mjs";

const nodeWith = (attributes) => ({ attribute: (name, otherwise) => attributes[name] ?? otherwise });

test("Window_ExplicitPads_GoBothSidesOfOneAxisFirst", () => {
  const window = windowOf(nodeWith({ pads: [1, 2, 3, 4], strides: [2, 3] }), [8, 9], [3, 3]);
  assert.deepEqual(paddingOf(window), [1, 3, 2, 4]);
  assert.deepEqual(window.strides, [2, 3]);
});

// ⌈7 ÷ 2⌉ = 4 windows of 4 cover 3·2 + 4 = 10 = 7 + 3.
test("Window_SamePadding_OddRestAtTheEndOrTheBegin", () => {
  const upper = windowOf(nodeWith({ auto_pad: "SAME_UPPER", strides: [2, 1] }), [7, 5], [4, 3]);
  assert.deepEqual(paddingOf(upper), [1, 2, 1, 1]);
  const lower = windowOf(nodeWith({ auto_pad: "SAME_LOWER", strides: [2, 1] }), [7, 5], [4, 3]);
  assert.deepEqual(paddingOf(lower), [2, 1, 1, 1]);
});

test("Window_OneAxis_GetsASecondOfSizeOne", () => {
  const window = widened(windowOf(nodeWith({ pads: [2, 3], dilations: [2] }), [9], [3]));
  assert.deepEqual(window.kernel, [3, 1]);
  assert.deepEqual(window.dilations, [2, 1]);
  assert.deepEqual(paddingOf(window), [2, 3, 0, 0]);
});

// Full size 2·(3 − 1) + 3 = 7: an output of 6 cuts one row, one of 8 adds one.
test("TransposedPads_GivenSizes_PadOrExtend", () => {
  const window = { kernel: [3, 3], strides: [2, 2], dilations: [1, 1] };
  assert.deepEqual(transposedPads(window, [3, 3], [6, 8], [0, 0], true), {
    begin: [0, 0],
    end: [1, 0],
    extra: [0, 1],
  });
  assert.deepEqual(transposedPads(window, [3, 3], [6, 8], [0, 0], false).begin, [1, 0]);
});

test("Slice_NegativeAndHugeBounds_AreClampedAsOnnxSays", () => {
  const list = (start, end, step, size) => {
    const { first, count } = sliceAxis(start, end, step, size);
    return Array.from({ length: count }, (_, i) => first + i * step);
  };
  assert.deepEqual(list(1, 2 ** 53, 1, 4), [1, 2, 3]);
  assert.deepEqual(list(-3, -1, 1, 5), [2, 3]);
  assert.deepEqual(list(-1, -(2 ** 53), -2, 5), [4, 2, 0]);
  assert.deepEqual(list(20, 1, -1, 4), [3, 2]);
  assert.deepEqual(list(3, 1, 1, 5), []);
});

test("Resize_NearestPlaces_FollowTheCoordinateMode", () => {
  const axis = { size: 3, output: 6, scale: 2 };
  assert.deepEqual(nearest("asymmetric", "floor", axis), [0, 0, 1, 1, 2, 2]);
  assert.deepEqual(nearest("half_pixel", "round_prefer_floor", axis), [0, 0, 1, 1, 2, 2]);
  assert.deepEqual(nearest("align_corners", "round_prefer_floor", axis), [0, 0, 1, 1, 2, 2]);
  assert.deepEqual(nearest("asymmetric", "ceil", axis), [0, 1, 1, 2, 2, 2]);
  assert.equal(source("align_corners", 5, axis), 2);
});

// A builder that keeps what it is given; operands know dtype and shape as the real ones do.
function recorder(results) {
  const calls = [];
  const operand = (dataType, shape) => ({ dataType, shape });
  const builder = {
    calls,
    input: (name, { dataType, shape }) => operand(dataType, shape),
    constant: ({ dataType, shape }) => operand(dataType, shape),
    identity: (x) => ({ ...x }),
    slice: (x, starts, sizes) => {
      calls.push({ method: "slice", starts, sizes });
      return operand(x.dataType, sizes);
    },
    transpose: (x, { permutation }) =>
      operand(
        x.dataType,
        permutation.map((axis) => x.shape[axis]),
      ),
  };
  for (const [method, shapes] of Object.entries(results))
    builder[method] = (...given) => {
      calls.push({ method, options: given.at(-1), sizes: given.slice(3, 5) });
      return shapes.map((shape) => operand("float32", shape));
    };
  return builder;
}

function graphOf(op, shapes, attributes, outputs) {
  const names = Object.keys(shapes);
  const values = {};
  for (const [name, shape] of Object.entries({ ...shapes, ...outputs }))
    values[name] = { dtype: "float32", shape };
  return {
    inputs: names,
    outputs: Object.keys(outputs),
    values,
    constants: {},
    nodes: [{ name: "n", op, opset: 14, inputs: [...names], outputs: Object.keys(outputs), attributes }],
  };
}

test("Lstm_BiasOfOnnx_IsSplitInHalvesAndGatesStayIofg", () => {
  const graph = graphOf(
    "LSTM",
    { X: [5, 2, 3], W: [1, 16, 3], R: [1, 16, 4], B: [1, 32] },
    { hidden_size: 4 },
    { Y: [5, 1, 2, 4], Y_h: [1, 2, 4], Y_c: [1, 2, 4] },
  );
  const builder = recorder({
    lstm: [
      [1, 2, 4],
      [1, 2, 4],
      [5, 1, 2, 4],
    ],
  });
  new Translation(builder, {}, graph, recurrent).run();
  const slices = builder.calls.filter(({ method }) => method === "slice");
  assert.deepEqual(
    slices.map(({ starts, sizes }) => [starts, sizes]),
    [
      [
        [0, 0],
        [1, 16],
      ],
      [
        [0, 16],
        [1, 16],
      ],
    ],
  );
  const { options, sizes } = builder.calls.find(({ method }) => method === "lstm");
  assert.equal(options.layout, "iofg");
  assert.equal(options.returnSequence, true);
  assert.deepEqual(sizes, [5, 4]);
});

test("Gru_LinearBeforeReset_IsResetAfter", () => {
  const shapes = { X: [5, 2, 3], W: [1, 12, 3], R: [1, 12, 4] };
  for (const [linear, after] of [
    [0, false],
    [1, true],
  ]) {
    const graph = graphOf(
      "GRU",
      shapes,
      { linear_before_reset: linear, direction: "reverse" },
      { Y: [5, 1, 2, 4] },
    );
    const builder = recorder({
      gru: [
        [1, 2, 4],
        [5, 1, 2, 4],
      ],
    });
    new Translation(builder, {}, graph, recurrent).run();
    const { options } = builder.calls.find(({ method }) => method === "gru");
    assert.equal(options.resetAfter, after);
    assert.equal(options.layout, "zrn");
    assert.equal(options.direction, "backward");
  }
});

const int64 = (...numbers) => ({
  dtype: "int64",
  shape: [numbers.length],
  data: new Uint8Array(BigInt64Array.from(numbers).buffer),
});
const [least, largest] = [-(2n ** 63n), 2n ** 63n - 1n];

/** The calls that an operator makes with these constants behind x. */
function callsWith(op, operators, shape, constants, output, results) {
  const graph = graphOf(op, { x: shape }, {}, { y: output });
  Object.assign(graph.constants, constants);
  graph.nodes[0].inputs.push(...Object.keys(constants));
  const builder = recorder(results);
  new Translation(builder, {}, graph, operators).run();
  return builder.calls;
}

// "To the end" is written as the largest integer, which no number of JavaScript is.
test("Slice_BoundsBeyondTheNumbersOfJavaScript_GoToTheEnd", () => {
  const sliced = (first, last) => {
    const constants = { starts: int64(first), ends: int64(last) };
    return callsWith("Slice", shapeOperators, [5], constants, [3], { reverse: [[3]] });
  };
  assert.deepEqual(sliced(2n, largest), [{ method: "slice", starts: [2], sizes: [3] }]);
  assert.deepEqual(sliced(least, -2n), [{ method: "slice", starts: [0], sizes: [3] }]);
});

test("Trilu_DiagonalBeyondTheMatrix_IsOneBehindIt", () => {
  const triangular = (k) => {
    const results = { triangular: [[3, 4]] };
    return callsWith("Trilu", shapeOperators, [3, 4], { k: int64(k) }, [3, 4], results)[0].options.diagonal;
  };
  assert.equal(triangular(largest), 4);
  assert.equal(triangular(least), -3);
  assert.equal(triangular(-1n), -1);
});

test("Clip_BoundThatIsTheLargestInteger_IsNone_AndOthersAreRefusedWithTheNumber", () => {
  const clamp = (low, high) =>
    callsWith("Clip", activation, [3], { low: int64(low), high: int64(high) }, [3], { clamp: [[3]] });
  const [{ options }] = clamp(0n, largest);
  assert.equal(options.minValue, 0);
  assert.equal("maxValue" in options, false);
  assert.throws(() => clamp(0n, 2n ** 53n + 1n), /the number 9007199254740993 is too large/);
});

test("Translation_TypeThatTheLimitsLack_NamesNodeOperatorAndReason", () => {
  const graph = graphOf("LSTM", { X: [5, 2, 3], W: [1, 16, 3], R: [1, 16, 4] }, {}, { Y: [5, 1, 2, 4] });
  const limits = { lstm: { input: { dataTypes: ["float16"], rankRange: { min: 3, max: 3 } } } };
  const translation = new Translation(recorder({ lstm: [] }), limits, graph, recurrent);
  assert.throws(
    () => translation.run(),
    /node 'n' \(LSTM\): lstm takes float16 as its input here, not float32/,
  );
});

// WebNN's scale and bias have the shape of a lane; ONNX's may be broadcast along any axis.
test("LayerNormalization_ScaleBeyondTheLane_IsMultipliedAfterwards", () => {
  const callsFor = (...shapes) => {
    const calls = [];
    const inputs = shapes.map((shape) => ({ shape }));
    const note = (method, result) => {
      calls.push(method);
      return result;
    };
    normalization.LayerNormalization({
      input: (i) => inputs[i] ?? null,
      axis: (axis, rank) => (axis < 0 ? axis + rank : axis),
      attribute: (name, otherwise) => otherwise,
      wants: () => false,
      unary: (method, x, options) => note(options.scale ? `${method} with scale` : method, x),
      binary: (method, a) => note(method, a),
      make: (method, operands, [shape]) => note(method, { shape }),
    });
    return calls;
  };
  assert.deepEqual(callsFor([2, 4, 8], [8], [8]), ["layerNormalization with scale"]);
  assert.deepEqual(callsFor([2, 4, 8], [1]), ["expand", "layerNormalization with scale"]);
  assert.deepEqual(callsFor([2, 4, 8], [2, 1, 8]), ["layerNormalization", "mul"]);
  assert.deepEqual(callsFor([2, 4, 8], [8], [4, 1]), ["layerNormalization", "mul", "add"]);
});
