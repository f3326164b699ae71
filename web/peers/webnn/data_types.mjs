// ONNX's element types as WebNN's, and their bytes as numbers. Clients: translation.mjs, webnn.mjs. WebNN has
// no bool: comparisons give uint8.

/** WebNN's name of an ONNX type; undefined where it has none. */
export const dataTypes = {
  float32: "float32",
  float16: "float16",
  int64: "int64",
  uint64: "uint64",
  int32: "int32",
  uint32: "uint32",
  int8: "int8",
  uint8: "uint8",
  bool: "uint8",
  int4: "int4",
};

const arrays = {
  float32: Float32Array,
  float64: Float64Array,
  float16: globalThis.Float16Array, // not in every browser that may load this
  int64: BigInt64Array,
  uint64: BigUint64Array,
  int32: Int32Array,
  uint32: Uint32Array,
  int16: Int16Array,
  uint16: Uint16Array,
  int8: Int8Array,
  uint8: Uint8Array,
  bool: Uint8Array,
};

export const elementsIn = (shape) => shape.reduce((product, size) => product * size, 1);

/** The numbers as an array of this type. */
export function arrayOf(dtype, numbers) {
  const Kind = arrays[dtype];
  if (!Kind) throw new Error(`constants of ${dtype} cannot be made here`);
  const convert = dtype === "int64" || dtype === "uint64" ? (number) => BigInt(number) : Number;
  return Kind.from(numbers, convert);
}

/** The bytes of a tensor (Uint8Array, at any address) as numbers; integers beyond 2⁵³ are an error. */
export function numbersIn({ dtype, data }) {
  const Kind = arrays[dtype];
  if (!Kind) throw new Error(`${dtype} cannot be read as numbers here`);
  const aligned = data.slice().buffer;
  return Array.from(new Kind(aligned), (value) => {
    const number = Number(value);
    if (typeof value === "bigint" && BigInt(number) !== value)
      throw new Error(`the number ${value} is too large`);
    return number;
  });
}
