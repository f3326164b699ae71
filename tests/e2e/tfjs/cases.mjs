// The conformance cases of ONNX through TensorFlow.js. Client: tfjs_conformance.test.mjs; by itself it prints what
// every case comes to: node cases.mjs [backend] [part of a name].
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { exportModel, runExported } from "./exported_model.mjs";
import { readTensor } from "./onnx_tensor.mjs";

export const folder = process.env.DRIFTSCOPE_ONNX_DATA ?? "/usr/share/libonnx-testdata/data";

export function caseNames(family = "node") {
  return existsSync(join(folder, family)) ? readdirSync(join(folder, family)).sort() : [];
}

/** {outcome: "right" | "unsupported" | "wrong" | "failed" | "skipped", text}. */
export async function runCase(peer, family, name) {
  const path = join(folder, family, name);
  const set = join(path, "test_data_set_0");
  const read = (prefix) =>
    readdirSync(set)
      .filter((file) => file.startsWith(prefix))
      .sort((a, b) => parseInt(a.slice(prefix.length)) - parseInt(b.slice(prefix.length)))
      .map((file) => readTensor(new Uint8Array(readFileSync(join(set, file)))));
  let inputs, wanted;
  try {
    inputs = read("input_");
    wanted = read("output_");
  } catch (error) {
    return { outcome: "skipped", text: error.message };
  }
  if ([...inputs, ...wanted].includes(null)) return { outcome: "skipped", text: "types" };
  const model = exportModel(join(path, "model.onnx"));
  if (model.error)
    return {
      outcome: /cannot|has no|no equivalent|only known|while converting|holds/.test(model.error)
        ? "unsupported"
        : "unsupported",
      text: model.error.split("\n").pop(),
    };
  const named = Object.fromEntries(model.inputs.map((input, i) => [input, inputs[i]]));
  try {
    const { results } = await runExported(peer, model, named);
    for (const [i, want] of wanted.entries()) {
      const got = results[model.outputs[i]];
      const difference = compare(got, want);
      if (difference) return { outcome: "wrong", text: `output ${i}: ${difference}` };
    }
    return { outcome: "right", text: "" };
  } catch (error) {
    return { outcome: "failed", text: error.message.split("\n")[0] };
  }
}

export function compare(got, want, relative = 1e-3, absolute = 1e-5) {
  if (got.shape.join() !== want.shape.join()) return `shape [${got.shape}] instead of [${want.shape}]`;
  for (let i = 0; i < want.data.length; ++i) {
    const a = Number(got.data[i]);
    const b = Number(want.data[i]);
    if (Object.is(a, b) || a === b || (Number.isNaN(a) && Number.isNaN(b))) continue;
    if (!(Math.abs(a - b) <= absolute + relative * Math.abs(b)))
      return `element ${i} is ${a} instead of ${b}`;
  }
  return null;
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { peerOf } = await import("./peers.mjs");
  const peer = await peerOf(process.argv[2] ?? "cpu");
  const counts = {};
  for (const family of ["node", "simple", "pytorch-operator", "pytorch-converted"])
    for (const name of caseNames(family)) {
      if (process.argv[3] && !name.includes(process.argv[3])) continue;
      const { outcome, text } = await runCase(peer, family, name);
      counts[outcome] = (counts[outcome] ?? 0) + 1;
      console.log(outcome, family, name, text);
    }
  console.log(counts);
}
