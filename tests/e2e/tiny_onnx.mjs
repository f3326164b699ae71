// ONNX models for tests, written as protobuf by hand (onnx.proto3: the field numbers below).

export function varint(value) {
  const bytes = [];
  for (; value > 127; value = Math.floor(value / 128)) bytes.push((value % 128) | 128);
  return Buffer.from([...bytes, value]);
}
export const number = (field, value) => Buffer.concat([varint(field * 8), varint(value)]);
export const part = (field, ...bytes) => {
  const content = Buffer.concat(bytes);
  return Buffer.concat([varint(field * 8 + 2), varint(content.length), content]);
};
export const text = (field, value) => part(field, Buffer.from(value));

/** A float32 tensor of the graph's interface. */
export function interfaceValue(field, name, shape) {
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

const floats = (values) => Buffer.from(Float32Array.from(values).buffer);

/** A node with attributes {name: float}. */
function node(op, name, inputs, output, attributes = {}) {
  const floating = ([key, value]) =>
    part(5, text(1, key), Buffer.concat([varint(2 * 8 + 5), floats([value])]), number(20, 1));
  return part(
    1,
    ...inputs.map((input) => text(1, input)),
    text(2, output),
    text(3, name),
    text(4, op),
    ...Object.entries(attributes).map(floating),
  );
}

const initializer = (name, values) =>
  part(5, number(1, values.length), number(2, 1), text(8, name), part(9, floats(values)));

/** The graph of webmachinelearning/webnn#950: batchNormalization over three channels, then gelu. */
export function batchNormGelu() {
  const graph = part(
    7,
    node("BatchNormalization", "norm", ["x", "scale", "bias", "mean", "variance"], "normalized", {
      epsilon: 1e-5,
    }),
    node("Gelu", "gelu", ["normalized"], "y"),
    text(2, "batchnorm_gelu"),
    initializer("scale", [1, 1, 1]),
    initializer("bias", [0, 0, 0]),
    initializer("mean", [0, 3, 6]),
    initializer("variance", [1, 1.5, 2]),
    interfaceValue(11, "x", [2, 3, 1]),
    interfaceValue(12, "y", [2, 3, 1]),
  );
  return Buffer.concat([number(1, 9), graph, part(8, number(2, 20))]);
}

/** Functions of one argument, [op, input, output] each, on vectors of the inputs' sizes: {name: size}. */
export function functions(list, sizes) {
  const graph = part(
    7,
    ...list.map(([op, input, output]) => node(op, output, [input], output)),
    text(2, "functions"),
    ...Object.entries(sizes).map(([name, size]) => interfaceValue(11, name, [size])),
    ...list.map(([, input, output]) => interfaceValue(12, output, [sizes[input]])),
  );
  return Buffer.concat([number(1, 9), graph, part(8, number(2, 20))]);
}

/** y = sum(x) > 0 ? tanh(x·w) : -(x·x), by an If "choice" with the nodes scale, squash and negate. */
export function choice() {
  const graph = (name, nodes, output) => part(6, ...nodes, text(2, name), part(12, text(1, output)));
  const branch = (attribute, ...content) =>
    part(5, text(1, attribute), graph(attribute, ...content), number(20, 5));
  const list = [
    node("ReduceSum", "sum", ["x"], "s"),
    node("Greater", "greater", ["s", "zero"], "c"),
    part(
      1,
      text(1, "c"),
      text(2, "y"),
      text(3, "choice"),
      text(4, "If"),
      branch(
        "then_branch",
        [node("Mul", "scale", ["x", "w"], "product"), node("Tanh", "squash", ["product"], "t")],
        "t",
      ),
      branch(
        "else_branch",
        [node("Mul", "scale", ["x", "x"], "square"), node("Neg", "negate", ["square"], "n")],
        "n",
      ),
    ),
  ];
  const whole = part(
    7,
    ...list,
    text(2, "graph"),
    initializer("zero", [0]),
    initializer("w", [0.3, -0.7, 1.1, 0.9]),
    interfaceValue(11, "x", [4]),
    interfaceValue(12, "y", [4]),
  );
  return Buffer.concat([number(1, 8), whole, part(8, number(2, 17))]);
}

const whole = (name, value) =>
  part(5, number(2, 7), text(8, name), part(9, Buffer.from(BigInt64Array.of(BigInt(value)).buffer)));
const scalarInput = (name, type) => part(11, text(1, name), part(2, part(1, number(1, type), part(2))));

/** y = v after so many times v ← v·w + x, beginning with x; a Loop "loop" with the nodes scale and shift. */
export function loop(times) {
  const body = part(
    6,
    node("Mul", "scale", ["v", "w"], "product"),
    node("Add", "shift", ["product", "x"], "next"),
    text(2, "body"),
    scalarInput("i", 7),
    scalarInput("go", 9),
    interfaceValue(11, "v", [4]),
    part(12, text(1, "go")),
    interfaceValue(12, "next", [4]),
  );
  const graph = part(
    7,
    part(
      1,
      ...["times", "", "x"].map((input) => text(1, input)),
      text(2, "y"),
      text(3, "loop"),
      text(4, "Loop"),
      part(5, text(1, "body"), body, number(20, 5)),
    ),
    text(2, "graph"),
    whole("times", times),
    initializer("w", [0.9, -0.8, 0.7, 0.6]),
    interfaceValue(11, "x", [4]),
    interfaceValue(12, "y", [4]),
  );
  return Buffer.concat([number(1, 8), graph, part(8, number(2, 17))]);
}
