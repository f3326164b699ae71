// Comparisons, logic and choice. WebNN's bools are uint8.

// Small integers are compared as int32, which holds them exactly.
function comparable(node, method, operand) {
  return node.takes(method, "a", operand.dataType) ? operand : node.cast(operand, "int32");
}

const comparison = (method) => (node) => {
  const exact = (i) =>
    ["uint32", "uint64"].includes(node.dtype(i)) ? node.input(i) : comparable(node, method, node.input(i));
  return node.binary(method, exact(0), exact(1));
};

const logical = (method) => (node) => node.binary(method, node.input(0), node.input(1));

function where(node) {
  const [condition, a, b] = node.all();
  // It takes no uint8: bools are chosen as int32.
  const direct = node.takes("where", "trueValue", a.dataType);
  const [trueValue, falseValue] = direct ? [a, b] : [node.cast(a, "int32"), node.cast(b, "int32")];
  const chosen = node.make("where", { condition, trueValue, falseValue });
  return node.cast(chosen, a.dataType);
}

export const operators = {
  And: logical("logicalAnd"),
  Equal: comparison("equal"),
  Greater: comparison("greater"),
  GreaterOrEqual: comparison("greaterOrEqual"),
  Less: comparison("lesser"),
  LessOrEqual: comparison("lesserOrEqual"),
  Not: (node) => node.make("logicalNot", { a: node.input(0) }),
  Or: logical("logicalOr"),
  Where: where,
  Xor: logical("logicalXor"),
};
