// An ONNX model exported by `driftscope export --tfjs`, run by the adapter of web/peers in this process: what
// the peer engine does, with the order of axes and the types restored.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { driftscope as program } from "../support.mjs";

/** {files, inputs, outputs, values, facts} or {error, status}; first of all `format`: "tfjs" or "tflite". */
export function exportModel(model, ...given) {
  const [{ format }, options] =
    typeof given[0] === "object" ? [given[0], given.slice(1)] : [{ format: "tfjs" }, given];
  const folder = mkdtempSync(join(tmpdir(), "driftscope-tfjs-"));
  const target = format === "tfjs" ? folder : join(folder, "model.tflite");
  try {
    const json = execFileSync(program, ["export", model, `--${format}`, target, "--json", "-", ...options], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
      maxBuffer: 1 << 28,
    });
    const { inputs, outputs, models } = JSON.parse(json);
    const files = models[0].files.map(({ name }) => ({
      name,
      data: new Uint8Array(readFileSync(join(folder, name))),
    }));
    return { ...models[0], inputs, outputs, files };
  } catch (error) {
    return { error: error.stderr?.trim() || error.message, status: error.status };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function strides(shape) {
  const result = shape.map(() => 1);
  for (let axis = shape.length - 2; axis >= 0; --axis) result[axis] = result[axis + 1] * shape[axis + 1];
  return result;
}

/** The elements with axis i being axis permutation[i]. */
export function transpose({ dtype, shape, data }, permutation) {
  if (permutation.length === 0) return { dtype, shape, data };
  const target = permutation.map((axis) => shape[axis]);
  const from = strides(shape);
  const result = new data.constructor(data.length);
  const at = target.map(() => 0);
  for (let i = 0, offset = 0; i < data.length; ++i) {
    result[i] = data[offset];
    for (let axis = target.length - 1; axis >= 0; --axis) {
      offset += from[permutation[axis]];
      if (++at[axis] < target[axis]) break;
      offset -= from[permutation[axis]] * target[axis];
      at[axis] = 0;
    }
  }
  return { dtype, shape: target, data: result };
}

function converted(data, dtype) {
  if (dtype === "float32") return Float32Array.from(data);
  if (dtype === "bool" || dtype === "uint8") return Uint8Array.from(data, Number);
  return Int32Array.from(data, Number);
}

/** Values by our names, from inputs by our names; `wanted`: names, by default the outputs. */
export async function runExported(peer, model, inputs, wanted = model.outputs, timed = false) {
  const session = await peer.open({ converted: model.files, options: {}, threads: 1 });
  try {
    const feeds = {};
    for (const [name, tensor] of Object.entries(inputs)) {
      const { tensor: theirs, order, dtype } = model.values[name];
      const { shape, data } = transpose(tensor, order);
      feeds[theirs] = peer.tensor(dtype, shape, converted(data, dtype).buffer);
    }
    const { values, times } = await peer.run(
      session,
      feeds,
      wanted.map((name) => model.values[name].tensor),
      { timed },
    );
    const results = {};
    wanted.forEach((name, i) => {
      const { order } = model.values[name];
      results[name] = transpose(
        values[i],
        order.map((_, axis) => order.indexOf(axis)),
      );
    });
    return { results, times };
  } finally {
    peer.release(session);
  }
}
