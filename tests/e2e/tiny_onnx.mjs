// ONNX models for tests, written as protobuf by hand (onnx.proto3: the field numbers below).

function varint(value) {
  const bytes = [];
  for (; value > 127; value = Math.floor(value / 128)) bytes.push((value % 128) | 128);
  return Buffer.from([...bytes, value]);
}
const number = (field, value) => Buffer.concat([varint(field * 8), varint(value)]);
const part = (field, ...bytes) => {
  const content = Buffer.concat(bytes);
  return Buffer.concat([varint(field * 8 + 2), varint(content.length), content]);
};
const text = (field, value) => part(field, Buffer.from(value));

/** A float32 tensor of the graph's interface. */
function interfaceValue(field, name, shape) {
  const dimensions = shape.map((size) => part(1, number(1, size)));
  return part(field, text(1, name), part(2, part(1, number(1, 1), part(2, ...dimensions))));
}

/** x → op → v0 → op → v1 → … → y, each of the same shape. */
export function chain(op, length, shape) {
  const name = (i) => (i < 0 ? "x" : i === length - 1 ? "y" : `v${i}`);
  const nodes = Array.from({ length }, (_, i) =>
    part(1, text(1, name(i - 1)), text(2, name(i)), text(3, `${op}${i}`), text(4, op)),
  );
  const graph = part(
    7,
    ...nodes,
    text(2, "chain"),
    interfaceValue(11, "x", shape),
    interfaceValue(12, "y", shape),
  );
  return Buffer.concat([number(1, 8), graph, part(8, number(2, 13))]);
}
