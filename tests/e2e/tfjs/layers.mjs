// Every value of a model as TensorFlow.js computes it, verified by the program layer by layer. Client:
// tfjs_models.test.mjs; by itself: node layers.mjs backend model.onnx [input].
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { exportModel, program, runExported } from "./exported_model.mjs";
import { readSafetensors, writeSafetensors } from "./safetensors.mjs";

// Integers are all int32 there.
const integers = {
  int64: (data) => BigInt64Array.from(data, (value) => BigInt(value)),
  int8: (data) => Int8Array.from(data),
  uint8: (data) => Uint8Array.from(data),
};

/** The report of `driftscope verify` on what TensorFlow.js computes from the seeded input. */
export async function verifyLayers(peer, model, input = "seed:42") {
  const folder = mkdtempSync(join(tmpdir(), "driftscope-tfjs-"));
  try {
    const reference = join(folder, "reference.safetensors");
    execFileSync(program, ["run", model, "--input", input, "--target", "pc/strict", "--trace", reference], {
      stdio: ["ignore", "ignore", "inherit"],
    });
    const recorded = readSafetensors(new Uint8Array(readFileSync(reference)));
    const exported = exportModel(model, "--every-value");
    if (exported.error) throw new Error(exported.error);
    const inputs = Object.fromEntries(exported.inputs.map((name) => [name, recorded[name]]));
    const names = Object.keys(exported.values).filter(
      (name) => !exported.inputs.includes(name) && recorded[name],
    );
    const { results } = await runExported(peer, exported, inputs, names);
    for (const name of names) {
      const { dtype } = recorded[name];
      if (integers[dtype])
        results[name] = { ...results[name], dtype, data: integers[dtype](results[name].data) };
    }
    const trace = join(folder, "tfjs.safetensors");
    writeFileSync(trace, writeSafetensors({ ...inputs, ...results }));
    const { stdout, stderr } = spawnSync(program, ["verify", model, trace, "--json", "-"], {
      encoding: "utf8",
      maxBuffer: 1 << 28,
    });
    if (!stdout) throw new Error(stderr);
    return { report: JSON.parse(stdout), values: names.length };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { peerOf } = await import("./peers.mjs");
  const peer = await peerOf(process.argv[2]);
  const { report, values } = await verifyLayers(peer, process.argv[3], process.argv[4]);
  const { layers, ...rest } = report;
  console.log(rest, peer.about(), values);
  for (const { node, op, verdict, budget_used, max_ulp, worst } of layers)
    console.log(
      node,
      op,
      verdict,
      budget_used?.toPrecision(3),
      max_ulp,
      verdict === "rounding" || verdict === "identical" ? "" : worst,
    );
}
