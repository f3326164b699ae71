// safetensors files, the format of traces: {name: {dtype, shape, data}} both ways.

const types = {
  F32: ["float32", Float32Array],
  I32: ["int32", Int32Array],
  I64: ["int64", BigInt64Array],
  BOOL: ["bool", Uint8Array],
  U8: ["uint8", Uint8Array],
  I8: ["int8", Int8Array],
};

export function readSafetensors(bytes) {
  const length = Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true));
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(8, 8 + length)));
  const tensors = {};
  for (const [name, entry] of Object.entries(header)) {
    if (name === "__metadata__" || !types[entry.dtype]) continue;
    const [dtype, Array_] = types[entry.dtype];
    const [begin, end] = entry.data_offsets.map((offset) => 8 + length + offset);
    tensors[name] = { dtype, shape: entry.shape, data: new Array_(bytes.slice(begin, end).buffer) };
  }
  return tensors;
}

export function writeSafetensors(tensors) {
  const header = {};
  let at = 0;
  for (const [name, { dtype, shape, data }] of Object.entries(tensors)) {
    const type = Object.keys(types).find((key) => types[key][0] === dtype);
    header[name] = { dtype: type, shape, data_offsets: [at, (at += data.byteLength)] };
  }
  const text = new TextEncoder().encode(JSON.stringify(header));
  const bytes = new Uint8Array(8 + text.length + at);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(text.length), true);
  bytes.set(text, 8);
  at = 8 + text.length;
  for (const { data } of Object.values(tensors)) {
    bytes.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), at);
    at += data.byteLength;
  }
  return bytes;
}
