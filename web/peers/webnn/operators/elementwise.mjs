// Arithmetic, functions and casts, element by element.
import { dataTypes } from "../data_types.mjs";
import { decline } from "../translation.mjs";

const unary = (method) => (node) => node.unary(method, node.input(0));

// Old opsets align the second operand at an axis of the first instead of at the last.
function aligned(node, a, b) {
  if (node.opset >= 7 || !node.attribute("broadcast", 0) || b.shape.length === 0) return b;
  const axis = node.attribute("axis", a.shape.length - b.shape.length);
  const behind = a.shape.length - axis - b.shape.length;
  return behind > 0 ? node.reshape(b, [...b.shape, ...Array(behind).fill(1)]) : b;
}

// Integers of 8 bits that a method does not take are exact in int32; the result wraps around as theirs would.
function exactly(node, method, a, b) {
  if (node.takes(method, "a", a.dataType) || !/^u?int8$/.test(a.dataType)) return node.binary(method, a, b);
  return node.cast(node.binary(method, node.cast(a, "int32"), node.cast(b, "int32")), a.dataType);
}

const binary = (method) => (node) => {
  const a = node.input(0);
  return exactly(node, method, a, aligned(node, a, node.input(1)));
};

const variadic = (method) => (node) => {
  const [first, ...rest] = node.all();
  return rest.reduce((soFar, next) => exactly(node, method, soFar, next), first);
};

function mean(node) {
  const sum = variadic("add")(node);
  return node.inputs === 1 ? sum : node.binary("div", sum, node.scalar(sum.dataType, node.inputs));
}

function pow(node) {
  const a = node.input(0);
  return node.binary("pow", a, node.cast(aligned(node, a, node.input(1)), a.dataType));
}

function isInf(node) {
  const x = node.input(0);
  const infinite = node.make("isInfinite", { a: x });
  const [negative, positive] = [node.attribute("detect_negative", 1), node.attribute("detect_positive", 1)];
  if (negative && positive) return infinite;
  if (!negative && !positive) decline("it tests for neither infinity");
  const zero = node.scalar(x.dataType, 0);
  return node.binary("logicalAnd", infinite, node.binary(positive ? "greater" : "lesser", x, zero));
}

/** A value of a WebNN type as ONNX's `to`: a bool is whether it is not 0. */
function castTo(node, x, from, to) {
  const dataType = dataTypes[to];
  if (!dataType) decline(`WebNN has no ${to}`);
  if (to !== "bool" || from === "bool") return node.cast(x, dataType);
  const comparable = node.takes("notEqual", "a", x.dataType) ? x : node.cast(x, "int32");
  return node.binary("notEqual", comparable, node.scalar(comparable.dataType, 0));
}

const cast = (node) => castTo(node, node.input(0), node.dtype(0), node.outputDtype());

// While a model runs for inference nothing is dropped.
function dropout(node) {
  const x = node.input(0);
  if (node.has(2) && node.numbers(2, "training_mode")[0] !== 0) decline("it would drop elements at random");
  if (!node.wants(1)) return node.make("identity", { input: x });
  const mask = node.output(1);
  const kept = node.constant(
    dataTypes[mask.dtype],
    mask.shape,
    Array(x.shape.reduce((n, s) => n * s, 1)).fill(1),
  );
  return [node.make("identity", { input: x }), kept];
}

export const operators = {
  Abs: unary("abs"),
  Add: binary("add"),
  Cast: cast,
  CastLike: cast,
  Ceil: unary("ceil"),
  Cos: unary("cos"),
  Div: binary("div"),
  Dropout: dropout,
  Erf: unary("erf"),
  Exp: unary("exp"),
  Floor: unary("floor"),
  Identity: unary("identity"),
  IsInf: isInf,
  IsNaN: (node) => node.make("isNaN", { a: node.input(0) }),
  Log: unary("log"),
  Max: variadic("max"),
  Mean: mean,
  Min: variadic("min"),
  Mul: binary("mul"),
  Neg: unary("neg"),
  Pow: pow,
  Reciprocal: unary("reciprocal"),
  Round: unary("roundEven"),
  Sign: unary("sign"),
  Sin: unary("sin"),
  Sqrt: unary("sqrt"),
  Sub: binary("sub"),
  Sum: variadic("add"),
  Tan: unary("tan"),
};
