// ONNX models for tests out of plain objects: nodes with any attributes, graphs inside nodes, tensors.
import { number, part, text, varint } from "./tiny_onnx.mjs";

const types = {
  float32: [1, (values) => Float32Array.from(values)],
  uint8: [2, (values) => Uint8Array.from(values)],
  int8: [3, (values) => Int8Array.from(values)],
  int32: [6, (values) => Int32Array.from(values)],
  int64: [7, (values) => BigInt64Array.from(values, BigInt)],
  bool: [9, (values) => Uint8Array.from(values, Number)],
  float16: [10, (values) => Uint16Array.from(values)], // bits
};

const signed = (field, value) => {
  let rest = BigInt.asUintN(64, BigInt(value));
  const bytes = [];
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  return Buffer.concat([varint(field * 8), Buffer.from([...bytes, Number(rest)])]);
};

/** {dtype, shape, values} as a TensorProto in this field. */
function tensorPart(field, { name = "", dtype, shape, values }) {
  const [type, arrayOf] = types[dtype];
  const raw = Buffer.from(arrayOf(values).buffer);
  return part(
    field,
    ...shape.map((size) => number(1, size)),
    number(2, type),
    ...(name ? [text(8, name)] : []),
    part(9, raw),
  );
}

function attribute(name, value) {
  const kind = (type) => number(20, type);
  if (typeof value === "string") return part(5, text(1, name), text(4, value), kind(3));
  if (typeof value === "number" || typeof value === "bigint")
    return part(5, text(1, name), signed(3, value), kind(2));
  if (Array.isArray(value)) return part(5, text(1, name), ...value.map((one) => signed(8, one)), kind(7));
  if (value.dtype) return part(5, text(1, name), tensorPart(5, value), kind(4));
  if (value.nodes) return part(5, text(1, name), graphPart(6, value), kind(5));
  throw new Error(`an attribute ${name} of this kind`);
}

function typePart(field, name, { dtype, shape }) {
  const dimensions = shape?.map((size) =>
    typeof size === "string" ? part(1, text(2, size)) : part(1, number(1, size)),
  );
  const tensor = [number(1, types[dtype][0]), ...(shape ? [part(2, ...dimensions)] : [])];
  return part(field, text(1, name), part(2, part(1, ...tensor)));
}

function graphPart(field, { nodes, constants = {}, inputs = {}, outputs }) {
  return part(
    field,
    ...nodes.map(([op, from, to, attributes = {}]) =>
      part(
        1,
        ...from.map((name) => text(1, name)),
        ...to.map((name) => text(2, name)),
        text(3, `${op}_${to[0]}`),
        text(4, op),
        ...Object.entries(attributes).map(([name, value]) => attribute(name, value)),
      ),
    ),
    text(2, "graph"),
    ...Object.entries(constants).map(([name, tensor]) => tensorPart(5, { name, ...tensor })),
    ...Object.entries(inputs).map(([name, type]) => typePart(11, name, type)),
    ...Object.entries(outputs).map(([name, type]) => typePart(12, name, type)),
  );
}

/**
 * The bytes of a model. `graph`: {nodes: [[op, inputs, outputs, attributes]], constants: {name: tensor},
 * inputs and outputs: {name: {dtype, shape}}}; a tensor is {dtype, shape, values}. An attribute is an
 * integer, a text, a list of integers, a tensor or a graph.
 */
export function onnxModel(graph, opset = 18) {
  return Buffer.concat([number(1, 8), graphPart(7, graph), part(8, number(2, opset))]);
}
