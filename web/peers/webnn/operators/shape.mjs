// Operators that only move elements, and those whose result is known from shapes and attributes.
import { dataTypes, elementsIn } from "../data_types.mjs";
import { decline } from "../translation.mjs";

const toOutputShape = (node) => node.reshape(node.input(0), node.output().shape);

function transpose(node) {
  const x = node.input(0);
  const reversed = x.shape.map((_, i) => x.shape.length - 1 - i);
  const permutation = node.attribute("perm", reversed);
  return permutation.length === 0 ? node.make("identity", { input: x }) : node.transpose(x, permutation);
}

function expand(node) {
  const input = node.input(0);
  return node.make("expand", { input }, [node.output().shape]);
}

function tile(node) {
  return node.make("tile", { input: node.input(0) }, [node.numbers(1, "the repetitions")]);
}

function concat(node) {
  const inputs = node.all();
  const axis = node.axis(node.attribute("axis", 1), inputs[0].shape.length);
  return node.make("concat", { inputs }, [axis]);
}

function split(node) {
  const input = node.input(0);
  const axis = node.axis(node.attribute("axis", 0), input.shape.length);
  const sizes = [];
  for (let i = 0; node.wants(i); ++i) sizes.push(node.output(i).shape[axis]);
  const rest = input.shape[axis] - sizes.reduce((sum, size) => sum + size, 0);
  if (rest !== 0) decline("some of its outputs are left out");
  if (sizes.length === 1) return node.make("identity", { input });
  return node.make("split", { input }, [sizes], { axis });
}

// starts, ends, axes, steps as of opset 10, or attributes before.
function sliceNumbers(node, rank) {
  const read = (i, name) => (node.opset < 10 ? node.attribute(name) : node.bounds(i, `its ${name}`)) ?? null;
  const starts = read(1, "starts");
  const axes = (read(3, "axes") ?? starts.map((_, i) => i)).map((axis) => node.axis(axis, rank));
  const steps = (node.opset < 10 ? null : read(4, "steps")) ?? starts.map(() => 1);
  return { starts, ends: read(2, "ends"), axes, steps };
}

/** First element, count and step along an axis of this size, as ONNX clamps them. */
export function sliceAxis(start, end, step, size) {
  const clamp = (at, low, high) => Math.min(Math.max(at < 0 ? at + size : at, low), high);
  const [first, last] =
    step > 0
      ? [clamp(start, 0, size), clamp(end, 0, size)]
      : [clamp(start, 0, size - 1), clamp(end, -1, size - 1)];
  return { first, count: Math.max(0, Math.ceil((last - first) / step)), step };
}

// A backward step is a forward one from the other end, reversed.
function slice(node) {
  const input = node.input(0);
  const { starts, ends, axes, steps } = sliceNumbers(node, input.shape.length);
  const begins = input.shape.map(() => 0);
  const sizes = [...input.shape];
  const strides = input.shape.map(() => 1);
  const backward = [];
  axes.forEach((axis, i) => {
    const { first, count, step } = sliceAxis(starts[i], ends[i], steps[i], input.shape[axis]);
    if (count === 0) decline("its result has no elements, which WebNN does not support");
    const extent = (count - 1) * Math.abs(step);
    begins[axis] = step > 0 ? first : first - extent;
    sizes[axis] = extent + 1;
    strides[axis] = Math.abs(step);
    if (step < 0) backward.push(axis);
  });
  const sliced = node.make("slice", { input }, [begins, sizes], { strides });
  return backward.length === 0 ? sliced : node.unary("reverse", sliced, { axes: backward });
}

// Sizes to add at the begin and at the end of each axis; negative ones take away.
function padSizes(node, rank) {
  const given = node.opset < 11 ? node.attribute("pads") : node.numbers(1, "its pads");
  const axes =
    node.numbers(3, "its axes")?.map((axis) => node.axis(axis, rank)) ?? Array.from(Array(rank).keys());
  const [begin, end] = [Array(rank).fill(0), Array(rank).fill(0)];
  axes.forEach((axis, i) => {
    begin[axis] = given[i];
    end[axis] = given[i + axes.length];
  });
  return { begin, end };
}

/** Where element i of an axis of this size that is padded by `begin` comes from. */
export const padSources = {
  edge: (i, begin, size) => Math.min(Math.max(i - begin, 0), size - 1),
  wrap: (i, begin, size) => (((i - begin) % size) + size) % size,
  reflect(i, begin, size) {
    const period = Math.max(2 * size - 2, 1);
    const at = (((i - begin) % period) + period) % period;
    return at < size ? at : period - at;
  },
};

// Padding made of the tensor's own elements gathers them, axis by axis: WebNN need not have every mode.
function padByGather(node, input, sizes, source) {
  return sizes.begin.reduce((x, begin, axis) => {
    const count = begin + x.shape[axis] + sizes.end[axis];
    if (begin === 0 && sizes.end[axis] === 0) return x;
    const places = Array.from({ length: count }, (_, i) => source(i, begin, x.shape[axis]));
    const indices = node.constant("int32", [count], places);
    return node.make("gather", { input: x, indices }, [], { axis });
  }, input);
}

function pad(node) {
  let input = node.input(0);
  const { begin, end } = padSizes(node, input.shape.length);
  const mode = node.attribute("mode", "constant");
  const value = (node.opset < 11 ? node.attribute("value") : node.numbers(2, "its value")?.[0]) ?? 0;
  if ([...begin, ...end].some((size) => size < 0)) {
    const taken = begin.map((size) => Math.max(-size, 0));
    const sizes = input.shape.map((size, i) => size - taken[i] - Math.max(-end[i], 0));
    if (elementsIn(sizes.map((size) => Math.max(size, 0))) === 0) decline("it removes all elements");
    input = node.make("slice", { input }, [taken, sizes]);
  }
  const added = (sizes) => sizes.map((size) => Math.max(size, 0));
  if (mode === "constant") return node.make("pad", { input }, [added(begin), added(end)], { mode, value });
  const source = padSources[mode] ?? decline(`there is no padding of mode ${mode}`);
  return padByGather(node, input, { begin: added(begin), end: added(end) }, source);
}

function depthToSpace(node) {
  const x = node.input(0);
  const [batch, channels, height, width] = x.shape;
  const b = node.attribute("blocksize");
  const depth = channels / (b * b);
  const columns = node.attribute("mode", "DCR") === "CRD";
  const parts = columns ? [batch, depth, b, b, height, width] : [batch, b, b, depth, height, width];
  const order = columns ? [0, 1, 4, 2, 5, 3] : [0, 3, 4, 1, 5, 2];
  return toShape(node, node.transpose(node.reshape(x, parts), order));
}

function spaceToDepth(node) {
  const x = node.input(0);
  const [batch, channels, height, width] = x.shape;
  const b = node.attribute("blocksize");
  const parts = node.reshape(x, [batch, channels, height / b, b, width / b, b]);
  return toShape(node, node.transpose(parts, [0, 3, 5, 1, 2, 4]));
}

const toShape = (node, operand) => node.reshape(operand, node.output().shape);

// No further from the main one than the matrix is: MLTriangularOptions has 32 bits.
function diagonalOf(node) {
  const [rows, columns] = node.input(0).shape.slice(-2);
  const given = node.bounds(1, "the diagonal")?.[0] ?? 0;
  return Math.min(Math.max(given, -rows), columns);
}

function trilu(node) {
  const diagonal = diagonalOf(node);
  return node.unary("triangular", node.input(0), { upper: node.attribute("upper", 1) === 1, diagonal });
}

function constant(node) {
  const tensor = node.attribute("value");
  if (tensor) return node.tensor(tensor);
  const { dtype, shape } = node.output();
  const names = ["value_float", "value_floats", "value_int", "value_ints"];
  const given = names.map((name) => node.attribute(name)).find((value) => value !== undefined);
  if (given === undefined) decline("its value is not a dense tensor of numbers");
  return node.constant(dataTypes[dtype], shape, [given].flat());
}

function constantOfShape(node) {
  const { dtype, shape } = node.output();
  const dataType = dataTypes[dtype] ?? decline(`WebNN has no ${dtype}`);
  const value = node.attribute("value");
  const one = value ? node.reshape(node.tensor(value), []) : node.scalar(dataType, 0);
  return node.make("expand", { input: one }, [shape]);
}

function shapeOf(node) {
  const sizes = node.shape(0);
  const rank = sizes.length;
  const bound = (at) => Math.min(Math.max(at < 0 ? at + rank : at, 0), rank);
  const part = sizes.slice(bound(node.attribute("start", 0)), bound(node.attribute("end", rank)));
  return node.constant("int64", [part.length], part);
}

export const operators = {
  Concat: concat,
  Constant: constant,
  ConstantOfShape: constantOfShape,
  DepthToSpace: depthToSpace,
  Expand: expand,
  Flatten: toOutputShape,
  Pad: pad,
  Reshape: toOutputShape,
  Shape: shapeOf,
  Size: (node) => node.scalar("int64", elementsIn(node.shape(0))),
  Slice: slice,
  SpaceToDepth: spaceToDepth,
  Split: split,
  Squeeze: toOutputShape,
  Tile: tile,
  Transpose: transpose,
  Trilu: trilu,
  Unsqueeze: toOutputShape,
};
