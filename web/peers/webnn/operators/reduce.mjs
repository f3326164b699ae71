// Reductions, the place of the largest element, running sums.
import { decline } from "../translation.mjs";

const reduction = (method) => (node) => {
  const input = node.input(0);
  const rank = input.shape.length;
  let axes = node.attribute("axes") ?? node.numbers(1, "the axes") ?? [];
  const all = axes.length === 0 && node.attribute("noop_with_empty_axes", 0) === 0;
  axes = all ? input.shape.map((_, i) => i) : axes.map((axis) => node.axis(axis, rank));
  const options = { axes, keepDimensions: node.attribute("keepdims", 1) === 1 };
  // Small integers are reduced as int32, which holds them exactly.
  const narrow = /^u?int8$/.test(input.dataType) && !node.takes(method, "input", input.dataType);
  const reduced = node.unary(method, narrow ? node.cast(input, "int32") : input, options);
  return node.cast(reduced, input.dataType);
};

// The last of equal elements is the first of the reversed axis.
const extreme = (method) => (node) => {
  const x = node.input(0);
  const axis = node.axis(node.attribute("axis", 0), x.shape.length);
  const last = node.attribute("select_last_index", 0) === 1;
  const input = last ? node.unary("reverse", x, { axes: [axis] }) : x;
  const options = { keepDimensions: node.attribute("keepdims", 1) === 1, outputDataType: "int64" };
  const place = node.make(method, { input }, [axis], options);
  return last ? node.binary("sub", node.scalar("int64", x.shape[axis] - 1), place) : place;
};

function cumSum(node) {
  const input = node.input(0);
  const axis = node.axis(node.numbers(1, "the axis")[0], input.shape.length);
  const options = {
    exclusive: node.attribute("exclusive", 0) === 1,
    reversed: node.attribute("reverse", 0) === 1,
  };
  if (input.shape.length === 0) decline("it has no axis");
  return node.make("cumulativeSum", { input }, [axis], options);
}

export const operators = {
  ArgMax: extreme("argMax"),
  ArgMin: extreme("argMin"),
  CumSum: cumSum,
  ReduceL1: reduction("reduceL1"),
  ReduceL2: reduction("reduceL2"),
  ReduceLogSum: reduction("reduceLogSum"),
  ReduceLogSumExp: reduction("reduceLogSumExp"),
  ReduceMax: reduction("reduceMax"),
  ReduceMean: reduction("reduceMean"),
  ReduceMin: reduction("reduceMin"),
  ReduceProd: reduction("reduceProduct"),
  ReduceSum: reduction("reduceSum"),
  ReduceSumSquare: reduction("reduceSumSquare"),
};
