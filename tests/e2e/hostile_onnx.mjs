// ONNX models of a few hundred bytes that want gigabytes, or never end. Clients: hostile.test.mjs,
// memory.test.mjs.
import { interfaceValue, number, part, text } from "./tiny_onnx.mjs";

const wholes = (values) => Buffer.from(BigInt64Array.from(values.map(BigInt)).buffer);

/** TensorProto of int64 (7) or bool (9); a scalar without sizes. */
const tensor = (name, sizes, type, bytes) =>
  Buffer.concat([...sizes.map((size) => number(1, size)), number(2, type), text(8, name), part(9, bytes)]);
const whole = (name, values) => part(5, tensor(name, [values.length], 7, wholes(values)));
const wholeScalar = (name, value) => part(5, tensor(name, [], 7, wholes([value])));
const yes = (name) => part(5, tensor(name, [], 9, Buffer.from([1])));

const intAttribute = (name, value) => part(5, text(1, name), number(3, value), number(20, 2));
const graphAttribute = (name, graph) => part(5, text(1, name), part(6, graph), number(20, 5));

const node = (op, name, inputs, outputs, attributes = [], domain = "") =>
  part(
    1,
    ...inputs.map((input) => text(1, input)),
    ...outputs.map((output) => text(2, output)),
    text(3, name),
    text(4, op),
    ...attributes,
    ...(domain ? [text(7, domain)] : []),
  );

const value = (field, name) => part(field, text(1, name));
const typed = (field, name, type, ...sizes) =>
  part(
    field,
    text(1, name),
    part(2, part(1, number(1, type), part(2, ...sizes.map((size) => part(1, number(1, size)))))),
  );

const model = (...graph) =>
  Buffer.concat([number(1, 9), part(7, ...graph, text(2, "g")), part(8, number(2, 20))]);

/** Zeros of this shape. */
export const zeros = (shape) =>
  model(node("ConstantOfShape", "huge", ["s"], ["y"]), whole("s", shape), value(12, "y"));

/** x, repeated `count` times. */
export const expanded = (count) =>
  model(
    node("Expand", "wide", ["x", "s"], ["y"]),
    whole("s", [count]),
    interfaceValue(11, "x", [1]),
    value(12, "y"),
  );

/** 0 … count − 1. */
export const counted = (count) =>
  model(
    node("Range", "count", ["zero", "end", "one"], ["y"]),
    wholeScalar("zero", 0),
    wholeScalar("end", count),
    wholeScalar("one", 1),
    value(12, "y"),
  );

/** A loop of 2⁶² steps whose `op` makes v of v and v. */
const loop = (op, attributes) =>
  model(
    node(
      "Loop",
      "again",
      ["steps", "yes", "x"],
      ["y"],
      [
        graphAttribute(
          "body",
          Buffer.concat([
            node(op, "step", ["v", "v"], ["w"], attributes),
            node("Identity", "go", ["c"], ["d"]),
            text(2, "body"),
            typed(11, "i", 7),
            typed(11, "c", 9),
            typed(11, "v", 1, 1),
            value(12, "d"),
            value(12, "w"),
          ]),
        ),
      ],
    ),
    wholeScalar("steps", 2n ** 62n),
    yes("yes"),
    interfaceValue(11, "x", [1]),
    value(12, "y"),
  );

/** Each step doubles what the one before made. */
export const doubling = () => loop("Concat", [intAttribute("axis", 0)]);

/** Never ends, and takes no memory. */
export const endless = () => loop("Add", []);

/** `depth` functions, each of which calls the next twice, under names of `length` characters. */
export function functions(depth, length) {
  const call = (i, input, output, letter) =>
    part(7, text(1, input), text(2, output), text(3, letter.repeat(length)), text(4, `F${i}`), text(7, "d"));
  const body = (i) =>
    part(
      25,
      text(1, `F${i}`),
      text(4, "a"),
      text(5, "y"),
      ...(i < depth
        ? [call(i + 1, "a", "v", "n"), call(i + 1, "v", "y", "m")]
        : [part(7, text(1, "a"), text(2, "y"), text(4, "Relu"))]),
      part(9, number(2, 20)),
      part(9, text(1, "d"), number(2, 1)),
      text(10, "d"),
    );
  return Buffer.concat([
    model(node("F0", "n", ["x"], ["y"], [], "d"), interfaceValue(11, "x", [1]), value(12, "y")),
    part(8, text(1, "d"), number(2, 1)),
    ...Array.from({ length: depth + 1 }, (_, i) => body(i)),
  ]);
}
