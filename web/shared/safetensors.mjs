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
  const head = headBytes(header);
  const file = new Uint8Array(head.length + offset);
  file.set(head);
  let at = head.length;
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

function headBytes(header) {
  const text = new TextEncoder().encode(JSON.stringify(header));
  const head = new Uint8Array(8 + Math.ceil(text.length / 8) * 8).fill(0x20); // blanks: data at 8·n
  new DataView(head.buffer).setBigUint64(0, BigInt(head.length - 8), true);
  head.set(text, 8);
  return head;
}

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
  return new Blob([headBytes(header), ...blobs], { type: "application/octet-stream" });
}

/**
 * The trace with the times that `measured`, one of the same model and target, has: as take_times does
 * (core/results/run_times.hpp).
 */
export function withTimesOf(trace, measured) {
  const { header, size } = headOf(trace);
  const about = header.__metadata__;
  const other = headOf(measured).header.__metadata__;
  const times = new Map(JSON.parse(other.nodes).map(({ name, time_ns }) => [name, time_ns]));
  const nodes = JSON.parse(about.nodes).map((node) => ({
    ...node,
    time_ns: times.get(node.name) ?? node.time_ns,
  }));
  const [run, timed] = [JSON.parse(about.run), JSON.parse(other.run)];
  if (timed.times) run.times = timed.times;
  const how = timed.options?.node_times;
  if (how !== undefined) run.options = { ...run.options, node_times: how };
  Object.assign(about, { nodes: JSON.stringify(nodes), run: JSON.stringify(run) });
  const head = headBytes(header);
  const whole = new Uint8Array(head.length + trace.length - size);
  whole.set(head);
  whole.set(trace.subarray(size), head.length);
  return whole;
}
