// Products of integers, which WebNN lacks: in float32, where every sum of so few products of 8-bit numbers is
// exact in any order, and the parts added as int32. Quantization with a scale that the run finds.
import { decline } from "../translation.mjs";
import { operators as convolutions } from "./conv.mjs";

// 258 · 255² < 2²⁴, up to which float32 holds every integer.
const exactProducts = 258;

/** input − zero point, as float32; `shape` of a zero point that is a list. */
function centred(node, i, zero, shape) {
  const x = node.cast(node.input(i), "float32");
  if (!node.has(zero)) return x;
  const point = node.cast(node.input(zero), "float32");
  const count = point.shape.reduce((product, size) => product * size, 1);
  return node.binary("sub", x, node.reshape(point, count === 1 ? [] : shape(count)));
}

// The part of an operand from `begin` on along an axis.
function part(node, operand, axis, begin, count) {
  const starts = operand.shape.map((_, i) => (i === axis ? begin : 0));
  const sizes = operand.shape.map((size, i) => (i === axis ? count : size));
  return sizes[axis] === operand.shape[axis]
    ? operand
    : node.make("slice", { input: operand }, [starts, sizes]);
}

/** Σ product(begin, count) over parts of `length`, each at most `maxProducts` long, as int32. */
function summed(node, length, maxProducts, product) {
  let sum = null;
  for (let begin = 0; begin < length; begin += maxProducts) {
    const next = node.cast(product(begin, Math.min(maxProducts, length - begin)), "int32");
    sum = sum === null ? next : node.binary("add", sum, next);
  }
  return sum;
}

function matMulInteger(node) {
  const a = centred(node, 0, 2, (count) => [count, 1]);
  const b = centred(node, 1, 3, (count) => [count]);
  const [rank, other] = [a.shape.length, b.shape.length];
  if (rank < 2 || other < 2) decline("its operands are not matrices");
  return summed(node, a.shape[rank - 1], exactProducts, (begin, count) => {
    const rows = part(node, a, rank - 1, begin, count);
    return node.binary("matmul", rows, part(node, b, other - 2, begin, count));
  });
}

// Channels of the input in parts; with groups only if one part is enough.
function convInteger(node) {
  const x = centred(node, 0, 2, (count) => [count]);
  const w = centred(node, 1, 3, (count) => [count, ...Array(node.input(1).shape.length - 1).fill(1)]);
  const perChannel = w.shape.slice(2).reduce((product, size) => product * size, 1);
  const maxProducts = Math.floor(exactProducts / perChannel);
  const channels = w.shape[1];
  if (maxProducts === 0 || (node.attribute("group", 1) !== 1 && channels > maxProducts))
    decline(`sums of more than ${exactProducts} products for each channel are not exact in float32`);
  return summed(node, channels, maxProducts, (begin, count) => {
    const all = count === channels;
    const inputs = [all ? x : part(node, x, 1, begin, count), part(node, w, 1, begin, count), null];
    return convolutions.Conv(node.withInputs(inputs));
  });
}

// scale = (max(0, x) − min(0, x)) ÷ 255, zero point = −min ÷ scale: scalars that depend on x.
function dynamicQuantizeLinear(node) {
  const x = node.input(0);
  const scalar = (number) => node.scalar("float32", number);
  const clamped = (operand) => node.unary("clamp", operand, { minValue: 0, maxValue: 255 });
  const low = node.binary("min", node.unary("reduceMin", x), scalar(0));
  const high = node.binary("max", node.unary("reduceMax", x), scalar(0));
  const scale = node.binary("div", node.binary("sub", high, low), scalar(255));
  const zero = clamped(node.unary("roundEven", node.binary("div", node.unary("neg", low), scale)));
  const steps = node.unary("roundEven", node.binary("div", x, scale));
  const y = node.cast(clamped(node.binary("add", steps, zero)), "uint8");
  return [y, scale, node.cast(zero, "uint8")];
}

export const operators = {
  ConvInteger: convInteger,
  DynamicQuantizeLinear: dynamicQuantizeLinear,
  MatMulInteger: matMulInteger,
};
