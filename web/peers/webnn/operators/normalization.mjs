// Normalizations.
import { elementsIn } from "../data_types.mjs";
import { decline } from "../translation.mjs";

const scalarLike = (node, x, number) => node.scalar(x.dataType, number);

function batchNormalization(node) {
  if (node.attribute("training_mode", 0) === 1) decline("it would train");
  const [input, scale, bias, mean, variance] = node.all();
  const options = { scale, bias, axis: 1, epsilon: node.attribute("epsilon", 1e-5) };
  return node.make("batchNormalization", { input, mean, variance }, [], options);
}

// Over [N, C, …]: any number of spatial axes is one.
function instanceNormalization(node) {
  const [x, scale, bias] = node.all();
  const [batch, channels, ...sizes] = x.shape;
  const input = sizes.length === 2 ? x : node.reshape(x, [batch, channels, elementsIn(sizes), 1]);
  const options = { scale, bias, epsilon: node.attribute("epsilon", 1e-5) };
  const y = node.unary("instanceNormalization", input, options);
  return input === x ? y : node.reshape(y, x.shape);
}

// A scale or bias that is broadcast, in full.
function expanded(node, operand, shape) {
  if (operand === null) return null;
  const same = operand.shape.length === shape.length && operand.shape.every((size, i) => size === shape[i]);
  return same ? operand : node.make("expand", { input: operand }, [shape]);
}

function layerNormalization(node) {
  const x = node.input(0);
  const first = node.axis(node.attribute("axis", -1), x.shape.length);
  const axes = x.shape.map((_, i) => i).slice(first);
  const epsilon = node.attribute("epsilon", 1e-5);
  const lane = x.shape.slice(first);
  const [scale, bias] = [node.input(1), node.input(2)];
  // WebNN's have the shape of a lane; ONNX's may be broadcast along any axis of x.
  const inLane = [scale, bias].every((operand) => operand === null || operand.shape.length <= lane.length);
  const parameters = inLane ? { scale: expanded(node, scale, lane), bias: expanded(node, bias, lane) } : {};
  let y = node.unary("layerNormalization", x, { axes, epsilon, ...parameters });
  if (!inLane) y = node.binary("mul", y, scale);
  if (!inLane && bias !== null) y = node.binary("add", y, bias);
  if (!node.wants(1) && !node.wants(2)) return y;
  const along = { axes, keepDimensions: true };
  const mean = node.unary("reduceMean", x, along);
  const off = node.binary("sub", x, mean);
  const variance = node.unary("reduceMean", node.binary("mul", off, off), along);
  const deviation = node.unary("sqrt", node.binary("add", variance, scalarLike(node, x, epsilon)));
  return [y, mean, node.unary("reciprocal", deviation)];
}

// Lanes of C/groups channels; scale and bias are of groups in opset 18, of channels from 21.
function groupNormalization(node) {
  const [x, scale, bias] = node.all();
  const [batch, channels, ...sizes] = x.shape;
  const groups = node.attribute("num_groups");
  const lanes = node.reshape(x, [batch, groups, elementsIn([channels, ...sizes]) / groups]);
  const options = { axes: [2], epsilon: node.attribute("epsilon", 1e-5) };
  const normalized = node.unary("layerNormalization", lanes, options);
  const perGroup = scale.shape[0] === groups && node.opset < 21;
  const y = perGroup ? normalized : node.reshape(normalized, [batch, channels, elementsIn(sizes)]);
  const along = (operand) => node.reshape(operand, [1, operand.shape[0], 1]);
  const scaled = node.binary("add", node.binary("mul", y, along(scale)), along(bias));
  return node.reshape(scaled, x.shape);
}

// x ÷ √(mean(x²) + ε) · scale
function rmsNormalization(node) {
  const [x, scale] = node.all();
  const first = node.axis(node.attribute("axis", -1), x.shape.length);
  const along = { axes: x.shape.map((_, i) => i).slice(first), keepDimensions: true };
  const square = node.unary("reduceMean", node.binary("mul", x, x), along);
  const epsilon = scalarLike(node, x, node.attribute("epsilon", 1e-5));
  const root = node.unary("sqrt", node.binary("add", square, epsilon));
  return node.binary("mul", node.binary("div", x, root), scale);
}

function lpNormalization(node) {
  const x = node.input(0);
  const axes = [node.axis(node.attribute("axis", -1), x.shape.length)];
  const method = node.attribute("p", 2) === 1 ? "reduceL1" : "reduceL2";
  return node.binary("div", x, node.unary(method, x, { axes, keepDimensions: true }));
}

function meanVarianceNormalization(node) {
  const x = node.input(0);
  const along = { axes: node.attribute("axes", [0, 2, 3]), keepDimensions: true };
  const off = node.binary("sub", x, node.unary("reduceMean", x, along));
  const deviation = node.unary("sqrt", node.unary("reduceMean", node.binary("mul", off, off), along));
  return node.binary("div", off, node.binary("add", deviation, scalarLike(node, x, 1e-9)));
}

// x ÷ (bias + α/size · Σ x²)^β over neighbouring channels: the sum as an average over a window along them.
function lrn(node) {
  const x = node.input(0);
  const [batch, channels, ...sizes] = x.shape;
  const size = node.attribute("size");
  const before = Math.floor((size - 1) / 2);
  const square = node.reshape(node.binary("mul", x, x), [batch, 1, channels, elementsIn(sizes)]);
  const pads = [
    [0, 0, before, 0],
    [0, 0, size - 1 - before, 0],
  ];
  const padded = node.make("pad", { input: square }, pads, { mode: "constant", value: 0 });
  const mean = node.unary("averagePool2d", padded, { windowDimensions: [size, 1] });
  const scaled = node.binary("mul", mean, scalarLike(node, x, node.attribute("alpha", 1e-4)));
  const base = node.binary("add", scaled, scalarLike(node, x, node.attribute("bias", 1)));
  const divisor = node.binary("pow", base, scalarLike(node, x, node.attribute("beta", 0.75)));
  return node.binary("div", x, node.reshape(divisor, x.shape));
}

export const operators = {
  BatchNormalization: batchNormalization,
  GroupNormalization: groupNormalization,
  InstanceNormalization: instanceNormalization,
  LRN: lrn,
  LayerNormalization: layerNormalization,
  LpNormalization: lpNormalization,
  MeanVarianceNormalization: meanVarianceNormalization,
  RMSNormalization: rmsNormalization,
};
