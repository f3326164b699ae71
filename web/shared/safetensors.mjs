// float32 tensors in safetensors files (https://github.com/huggingface/safetensors).
// Clients: choice.mjs (inputs of a run), page.mjs (outputs of many samples), runner.mjs, tests.

/** `tensors`: [{name, shape, values: Float32Array}]. */
export function writeSafetensors(tensors) {
  const header = {};
  let offset = 0;
  for (const { name, shape, values } of tensors) {
    header[name] = { dtype: "F32", shape, data_offsets: [offset, offset + values.byteLength] };
    offset += values.byteLength;
  }
  let json = JSON.stringify(header);
  json = json.padEnd(Math.ceil(json.length / 8) * 8); // the data starts at a multiple of 8
  const head = new TextEncoder().encode(json);
  const file = new Uint8Array(8 + head.length + offset);
  new DataView(file.buffer).setBigUint64(0, BigInt(head.length), true);
  file.set(head, 8);
  let at = 8 + head.length;
  for (const { values } of tensors) {
    file.set(new Uint8Array(values.buffer, values.byteOffset, values.byteLength), at);
    at += values.byteLength;
  }
  return file;
}

const safetensorsNames = {
  float32: "F32",
  float64: "F64",
  float16: "F16",
  bfloat16: "BF16",
  int64: "I64",
  int32: "I32",
  int16: "I16",
  int8: "I8",
  uint64: "U64",
  uint32: "U32",
  uint16: "U16",
  uint8: "U8",
  bool: "BOOL",
};

function headOf(file) {
  const size = Number(new DataView(file.buffer, file.byteOffset).getBigUint64(0, true));
  return { header: JSON.parse(new TextDecoder().decode(file.subarray(8, 8 + size))), size: 8 + size };
}

/**
 * A trace as a Blob: `file` as the engine wrote it, or, if `values` (value_stream.hpp) came separately
 * as `blobs`, these with its metadata.
 */
export function assemble(file, values, blobs) {
  if (values.length === 0) return new Blob([file]);
  const header = { __metadata__: headOf(file).header.__metadata__ };
  let offset = 0;
  for (const { name, dtype, shape, begin, bytes } of values) {
    if (begin === 0) header[name] = { dtype: safetensorsNames[dtype], shape, data_offsets: [offset, 0] };
    offset += bytes;
    header[name].data_offsets[1] = offset;
  }
  const text = new TextEncoder().encode(JSON.stringify(header));
  const head = new Uint8Array(8 + Math.ceil(text.length / 8) * 8).fill(0x20); // blanks: data at 8·n
  new DataView(head.buffer).setBigUint64(0, BigInt(head.length - 8), true);
  head.set(text, 8);
  return new Blob([head, ...blobs], { type: "application/octet-stream" });
}
