// float32 tensors in safetensors files (https://github.com/huggingface/safetensors).
// Clients: choice.mjs (inputs of a run), page.mjs (outputs of many samples), tests.

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

/** The float32 tensor `name` of a file that the engine wrote. */
export function readFloats(file, name) {
  const headSize = Number(new DataView(file.buffer, file.byteOffset).getBigUint64(0, true));
  const header = JSON.parse(new TextDecoder().decode(file.subarray(8, 8 + headSize)));
  const [begin, end] = header[name].data_offsets.map((offset) => 8 + headSize + offset);
  return new Float32Array(file.slice(begin, end).buffer);
}
