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

function elementsOf({ dtype, data }) {
  const Kind = arrays[dtype];
  if (!Kind) throw new Error(`${dtype} cannot be read as numbers here`);
  return Array.from(new Kind(data.slice().buffer));
}

/** The bytes of a tensor (Uint8Array, at any address) as numbers; integers beyond 2⁵³ are an error. */
export function numbersIn(tensor) {
  return elementsOf(tensor).map((value) => {
    const number = Number(value);
    if (typeof value === "bigint" && BigInt(number) !== value)
      throw new Error(`the number ${value} is too large`);
    return number;
  });
}

/** The same of integers that say how far to go at most: those beyond 2⁵³ become the largest below. */
export function boundsIn(tensor) {
  const furthest = Number.MAX_SAFE_INTEGER;
  return elementsOf(tensor).map((value) => Math.min(Math.max(Number(value), -furthest), furthest));
}

/** Whether an int64 is the least or the largest that there is: as a bound, none. */
export function isExtreme({ dtype, data }) {
  if (dtype !== "int64" || data.byteLength !== 8) return false;
  const [value] = new BigInt64Array(data.slice().buffer);
  return value === 2n ** 63n - 1n || value === -(2n ** 63n);
}
