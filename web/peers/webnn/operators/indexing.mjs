// Gathers and scatters.
import { decline } from "../translation.mjs";

// Indices as int32 where a method takes no others: no axis is longer.
function indices(node, method, i = 1) {
  const operand = node.input(i);
  return node.takes(method, "indices", operand.dataType) ? operand : node.cast(operand, "int32");
}

const gathers = (method) => (node) => {
  const input = node.input(0);
  const axis = node.axis(node.attribute("axis", 0), input.shape.length);
  return node.make(method, { input, indices: indices(node, method) }, [], { axis });
};

function gatherND(node) {
  if (node.attribute("batch_dims", 0) !== 0) decline("WebNN gathers without batch axes only");
  return node.make("gatherND", { input: node.input(0), indices: indices(node, "gatherND") });
}

function unreduced(node) {
  const reduction = node.attribute("reduction", "none");
  if (reduction !== "none") decline(`WebNN scatters without a reduction only, not with ${reduction}`);
}

function scatterElements(node) {
  unreduced(node);
  const input = node.input(0);
  const axis = node.axis(node.attribute("axis", 0), input.shape.length);
  const operands = { input, indices: indices(node, "scatterElements"), updates: node.input(2) };
  return node.make("scatterElements", operands, [], { axis });
}

function scatterND(node) {
  unreduced(node);
  const operands = { input: node.input(0), indices: indices(node, "scatterND"), updates: node.input(2) };
  return node.make("scatterND", operands);
}

// values[1] where the index is the place along a new axis, values[0] elsewhere.
function oneHot(node) {
  const depth = node.numbers(1, "its depth")[0];
  const places = node.cast(node.input(0), "int32");
  const rank = places.shape.length + 1;
  const axis = node.axis(node.attribute("axis", -1), rank);
  const negative = node.binary("lesser", places, node.scalar("int32", 0));
  const shifted = node.binary("add", places, node.scalar("int32", depth));
  const counted = node.make("where", { condition: negative, trueValue: shifted, falseValue: places });
  const shape = [...places.shape];
  shape.splice(axis, 0, 1);
  const along = Array.from({ length: rank }, (_, i) => (i === axis ? depth : 1));
  const steps = node.constant(
    "int32",
    along,
    Array.from({ length: depth }, (_, i) => i),
  );
  const condition = node.binary("equal", node.reshape(counted, shape), steps);
  const values = node.input(2);
  const value = (i) => node.reshape(node.make("slice", { input: values }, [[i], [1]]), []);
  return node.make("where", { condition, trueValue: value(1), falseValue: value(0) });
}

export const operators = {
  Gather: gathers("gather"),
  GatherElements: gathers("gatherElements"),
  GatherND: gatherND,
  OneHot: oneHot,
  Scatter: scatterElements,
  ScatterElements: scatterElements,
  ScatterND: scatterND,
};
