// Activations, Clip and Softmax.
import { decline } from "../translation.mjs";

const plain = (method) => (node) => node.unary(method, node.input(0));

const withAlpha = (method, alpha) => (node) =>
  node.unary(method, node.input(0), { alpha: node.attribute("alpha", alpha) });

const times = (node, x, number) => node.binary("mul", x, node.scalar(x.dataType, number));
const plus = (node, x, number) => node.binary("add", x, node.scalar(x.dataType, number));

// γ·(x > 0 ? x : α·(eˣ − 1))
function selu(node) {
  const x = node.input(0);
  const alpha = node.attribute("alpha", 1.67326319217681884765625);
  return times(node, node.unary("elu", x, { alpha }), node.attribute("gamma", 1.05070102214813232421875));
}

// max(0, x) + min(0, α·(exp(x/α) − 1))
function celu(node) {
  const x = node.input(0);
  const alpha = node.attribute("alpha", 1);
  const negative = node.binary("min", x, node.scalar(x.dataType, 0));
  const scaled = node.unary("elu", times(node, negative, 1 / alpha), { alpha });
  return node.binary("add", node.unary("relu", x), scaled);
}

// 0.5·x·(1 + tanh(√(2/π)·(x + 0.044715·x³)))
function geluByTanh(node, x) {
  const cube = node.binary("mul", node.binary("mul", x, x), x);
  const inner = node.binary("add", x, times(node, cube, 0.044715));
  const tanh = node.unary("tanh", times(node, inner, Math.sqrt(2 / Math.PI)));
  return node.binary("mul", times(node, x, 0.5), plus(node, tanh, 1));
}

function gelu(node) {
  const x = node.input(0);
  return node.attribute("approximate", "none") === "tanh" ? geluByTanh(node, x) : node.unary("gelu", x);
}

// x > α ? x : 0
function thresholdedRelu(node) {
  const x = node.input(0);
  const above = node.binary("greater", x, node.scalar(x.dataType, node.attribute("alpha", 1)));
  return node.make("where", {
    condition: above,
    trueValue: x,
    falseValue: node.scalar(x.dataType, 0),
  });
}

function mish(node) {
  const x = node.input(0);
  return node.binary("mul", x, node.unary("tanh", node.unary("softplus", x)));
}

function swish(node) {
  const x = node.input(0);
  const alpha = node.attribute("alpha", 1);
  return node.binary("mul", x, node.unary("sigmoid", alpha === 1 ? x : times(node, x, alpha)));
}

function hardSigmoid(node) {
  const options = { alpha: node.attribute("alpha", 0.2), beta: node.attribute("beta", 0.5) };
  return node.unary("hardSigmoid", node.input(0), options);
}

// The lower bound counts where both contradict each other, as clamp would not allow it.
function clip(node) {
  const x = node.input(0);
  const given = (i, name) => (node.opset < 11 ? (node.attribute(name) ?? null) : node.input(i));
  const fixed = (i, name) => {
    if (node.opset < 11) return node.attribute(name);
    return node.has(i) && !node.boundsNothing(i) ? node.numbers(i, `the bound '${name}'`)[0] : undefined;
  };
  const constant = node.opset < 11 || [1, 2].every((i) => !node.has(i) || node.isConstant(i));
  if (constant && node.takes("clamp", "input", x.dataType)) {
    const [minValue, maxValue] = [fixed(1, "min"), fixed(2, "max")];
    if (!(minValue > maxValue)) return node.unary("clamp", x, { minValue, maxValue });
  }
  const bound = (value) => (typeof value === "number" ? node.scalar(x.dataType, value) : value);
  const [low, high] = [given(1, "min"), given(2, "max")];
  const above = low === null ? x : node.binary("max", x, bound(low));
  return high === null ? above : node.binary("min", above, bound(high));
}

/** Applies `action` to a matrix, before opset 13: all axes from `axis` on are one. */
function onLastAxis(node, action) {
  const x = node.input(0);
  const rank = x.shape.length;
  if (rank === 0) decline("it has no axis");
  const axis = node.axis(node.attribute("axis", node.opset < 13 ? 1 : -1), rank);
  if (node.opset >= 13) return action(x, axis);
  const product = (sizes) => sizes.reduce((all, size) => all * size, 1);
  const matrix = [product(x.shape.slice(0, axis)), product(x.shape.slice(axis))];
  return node.reshape(action(node.reshape(x, matrix), 1), x.shape);
}

const softmax = (node) => onLastAxis(node, (input, axis) => node.make("softmax", { input }, [axis]));

// x − max − log Σ exp(x − max)
function logSoftmax(node) {
  return onLastAxis(node, (x, axis) => {
    const along = { axes: [axis], keepDimensions: true };
    const shifted = node.binary("sub", x, node.unary("reduceMax", x, along));
    const sum = node.unary("reduceSum", node.unary("exp", shifted), along);
    return node.binary("sub", shifted, node.unary("log", sum));
  });
}

// 1 at the first of the largest elements.
function hardmax(node) {
  return onLastAxis(node, (input, axis) => {
    const largest = node.make("argMax", { input }, [axis], { keepDimensions: true, outputDataType: "int32" });
    const places = input.shape.map((size, i) => (i === axis ? size : 1));
    const places0toN = node.constant(
      "int32",
      places,
      Array.from({ length: input.shape[axis] }, (_, i) => i),
    );
    return node.cast(node.binary("equal", largest, places0toN), input.dataType);
  });
}

// One slope per channel, [C], is also taken where it cannot be broadcast, as before opset 7.
function prelu(node) {
  const [input, slope] = node.all();
  const rank = input.shape.length;
  const last = [1, input.shape[rank - 1]].includes(slope.shape[0]);
  const perChannel = slope.shape.length === 1 && rank > 2 && !last && slope.shape[0] === input.shape[1];
  const wide = perChannel ? node.reshape(slope, [...slope.shape, ...Array(rank - 2).fill(1)]) : slope;
  return node.make("prelu", { input, slope: wide });
}

// |x| ≤ λ: 0; beyond, moved by the bias towards 0.
function shrink(node) {
  const x = node.input(0);
  const [bias, lambda] = [node.attribute("bias", 0), node.attribute("lambd", 0.5)];
  const scalar = (number) => node.scalar(x.dataType, number);
  const choose = (condition, trueValue, falseValue) =>
    node.make("where", { condition, trueValue, falseValue });
  const low = choose(node.binary("lesser", x, scalar(-lambda)), plus(node, x, bias), scalar(0));
  return choose(node.binary("greater", x, scalar(lambda)), plus(node, x, -bias), low);
}

export const operators = {
  Celu: celu,
  Clip: clip,
  Elu: withAlpha("elu", 1),
  Gelu: gelu,
  HardSigmoid: hardSigmoid,
  HardSwish: plain("hardSwish"),
  Hardmax: hardmax,
  LeakyRelu: withAlpha("leakyRelu", 0.01),
  LogSoftmax: logSoftmax,
  Mish: mish,
  PRelu: prelu,
  Relu: plain("relu"),
  Selu: selu,
  Shrink: shrink,
  Sigmoid: plain("sigmoid"),
  Softmax: softmax,
  Softplus: plain("softplus"),
  Softsign: plain("softsign"),
  Swish: swish,
  Tanh: plain("tanh"),
  ThresholdedRelu: thresholdedRelu,
};
