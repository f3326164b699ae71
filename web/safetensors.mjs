// Writes float32 tensors as a safetensors file (https://github.com/huggingface/safetensors).
// Clients: page.mjs (inputs of a run), tests.

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
