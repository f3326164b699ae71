// Quantization, and operators on quantized tensors: these as WebNN wants them, between a dequantizeLinear and
// a quantizeLinear that a browser may fuse with them.
import { dataTypes } from "../data_types.mjs";
import { decline } from "../translation.mjs";
import { operators as convolutions } from "./conv.mjs";

/** A scale or zero point as WebNN wants it: with the rank of the tensor, along one axis or in blocks. */
function along(node, operand, shape, axis) {
  if (operand.shape.length === shape.length && shape.length !== 1) return operand;
  const count = operand.shape.reduce((product, size) => product * size, 1);
  if (count === 1)
    return node.reshape(
      operand,
      shape.map(() => 1),
    );
  return node.reshape(
    operand,
    shape.map((_, i) => (i === axis ? count : 1)),
  );
}

const zeros = (node, dataType, like) =>
  node.constant(dataType, like.shape, Array(like.shape.reduce((n, size) => n * size, 1)).fill(0));

function quantize(node, input, scale, zeroPoint, dataType, axis) {
  const wide = along(node, scale, input.shape, axis);
  const zero = zeroPoint === null ? zeros(node, dataType, wide) : along(node, zeroPoint, input.shape, axis);
  return node.make("quantizeLinear", { input, scale: wide, zeroPoint: zero });
}

function dequantize(node, input, scale, zeroPoint, axis) {
  const wide = along(node, scale, input.shape, axis);
  const zero =
    zeroPoint === null ? zeros(node, input.dataType, wide) : along(node, zeroPoint, input.shape, axis);
  return node.make("dequantizeLinear", { input, scale: wide, zeroPoint: zero });
}

const axisOf = (node, rank) => node.axis(Math.min(node.attribute("axis", 1), Math.max(rank - 1, 0)), rank);

function quantizeLinear(node) {
  const [x, scale, zeroPoint = null] = node.all();
  const dataType = dataTypes[node.outputDtype()] ?? decline(`WebNN has no ${node.outputDtype()}`);
  return quantize(node, x, scale, zeroPoint, dataType, axisOf(node, x.shape.length));
}

function dequantizeLinear(node) {
  const [x, scale, zeroPoint = null] = node.all();
  return dequantize(node, x, scale, zeroPoint, axisOf(node, x.shape.length));
}

function qLinearConv(node) {
  const [x, xScale, xZero, w, wScale, wZero, yScale, yZero, bias = null] = node.all();
  const data = dequantize(node, x, xScale, xZero, 1);
  const weights = dequantize(node, w, wScale, wZero, 0);
  let added = null;
  if (bias !== null) {
    const scale = node.binary("mul", node.reshape(xScale, []), wScale);
    added = dequantize(node, bias, scale, null, 0);
  }
  const y = convolutions.Conv(node.withInputs([data, weights, added]));
  return quantize(node, y, yScale, yZero, yZero.dataType, 1);
}

function qLinearMatMul(node) {
  const [a, aScale, aZero, b, bScale, bZero, yScale, yZero] = node.all();
  const rows = dequantize(node, a, aScale, aZero, a.shape.length - 2);
  const columns = dequantize(node, b, bScale, bZero, b.shape.length - 1);
  return quantize(node, node.binary("matmul", rows, columns), yScale, yZero, yZero.dataType, 1);
}

export const operators = {
  DequantizeLinear: dequantizeLinear,
  QLinearConv: qLinearConv,
  QLinearMatMul: qLinearMatMul,
  QuantizeLinear: quantizeLinear,
};
