// Traces in JavaScript: safetensors whose tensors are named after the model's values. Independent of
// Node: it runs in a page as well.

const kinds = {
  float32: ["F32", 4],
  float64: ["F64", 8],
  float16: ["F16", 2],
  bfloat16: ["BF16", 2],
  int64: ["I64", 8],
  int32: ["I32", 4],
  int16: ["I16", 2],
  int8: ["I8", 1],
  uint64: ["U64", 8],
  uint32: ["U32", 4],
  uint16: ["U16", 2],
  uint8: ["U8", 1],
  bool: ["BOOL", 1],
};
const byArray = {
  Float32Array: "float32",
  Float64Array: "float64",
  Float16Array: "float16",
  BigInt64Array: "int64",
  Int32Array: "int32",
  Int16Array: "int16",
  Int8Array: "int8",
  BigUint64Array: "uint64",
  Uint32Array: "uint32",
  Uint16Array: "uint16",
  Uint8Array: "uint8",
  Uint8ClampedArray: "uint8",
};

function bytesOf(name, tensor) {
  const shape = tensor.shape ?? tensor.dims;
  const data = Array.isArray(tensor.data) ? Float32Array.from(tensor.data) : tensor.data;
  if (!Array.isArray(shape) || !shape.every((size) => Number.isSafeInteger(size) && size >= 0))
    throw new TypeError(
      `tensor "${name}": shape (or dims) must be an array of sizes, got ${JSON.stringify(shape)}`,
    );
  if (!ArrayBuffer.isView(data))
    throw new TypeError(`tensor "${name}": data must be a typed array or an array of numbers`);
  const dtype = tensor.dtype ?? tensor.type ?? byArray[data.constructor.name];
  if (!(dtype in kinds))
    throw new TypeError(
      `tensor "${name}": dtype ${JSON.stringify(dtype)} is not one of ${Object.keys(kinds).join(", ")}`,
    );
  const [kind, size] = kinds[dtype];
  const expected = shape.reduce((product, one) => product * one, 1) * size;
  if (data.byteLength !== expected)
    throw new TypeError(
      `tensor "${name}": shape [${shape}] of ${dtype} needs ${expected} bytes, data has ${data.byteLength}`,
    );
  return { kind, shape, bytes: new Uint8Array(data.buffer, data.byteOffset, data.byteLength) };
}

/** `tensors`: {name: {shape or dims, data, dtype or type}}; `metadata`: {key: text}. */
export function encodeTrace(tensors, metadata = {}) {
  const header = { __metadata__: { format: "driftscope-trace-1", ...metadata } };
  const parts = [];
  let offset = 0;
  for (const [name, tensor] of Object.entries(tensors)) {
    const { kind, shape, bytes } = bytesOf(name, tensor);
    header[name] = { dtype: kind, shape, data_offsets: [offset, offset + bytes.length] };
    parts.push(bytes);
    offset += bytes.length;
  }
  const text = new TextEncoder().encode(JSON.stringify(header));
  const start = 8 + Math.ceil(text.length / 8) * 8; // the data begins at a multiple of 8
  const file = new Uint8Array(start + offset).fill(0x20, 8 + text.length, start);
  new DataView(file.buffer).setBigUint64(0, BigInt(start - 8), true);
  file.set(text, 8);
  let at = start;
  for (const bytes of parts) {
    file.set(bytes, at);
    at += bytes.length;
  }
  return file;
}

/** {metadata, tensors: {name: {dtype, shape, data: Uint8Array}}} of a safetensors file. */
export function decodeTrace(file) {
  const cut = () => new RangeError("this is not a safetensors file, or it is truncated");
  if (file.length < 8) throw cut();
  const length = Number(new DataView(file.buffer, file.byteOffset, file.length).getBigUint64(0, true));
  if (length > file.length - 8) throw cut();
  const { __metadata__: metadata = {}, ...entries } = JSON.parse(
    new TextDecoder().decode(file.subarray(8, 8 + length)),
  );
  const names = Object.fromEntries(Object.entries(kinds).map(([dtype, [kind]]) => [kind, dtype]));
  const tensors = {};
  for (const [
    name,
    {
      dtype,
      shape,
      data_offsets: [begin, end],
    },
  ] of Object.entries(entries)) {
    if (end > file.length - 8 - length) throw cut();
    tensors[name] = {
      dtype: names[dtype] ?? dtype,
      shape,
      data: file.subarray(8 + length + begin, 8 + length + end),
    };
  }
  return { metadata, tensors };
}
