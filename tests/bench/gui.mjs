// Performance of the GUI: frames per second with 10,000 layers on 6 targets, and with a tensor of 64
// channels of 224×224 open; memory with three traces open. Under Xvfb, so with a software renderer.
//
//   node tests/bench/gui.mjs [TRACE TRACE TRACE]
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

import { writeSafetensors } from "../e2e/support.mjs";
import { gui } from "../e2e/gui/support.mjs";

const folder = mkdtempSync(join(tmpdir(), "driftscope-gui-bench-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

function manyLayers(layers, targets) {
  const layer = (i, t) => ({
    node: `stage${i >> 8}/block${(i >> 4) & 15}/layer${i}`,
    op: ["Conv", "Relu", "Add"][i % 3],
    output: `v${i}`,
    shape: [1, 64, 56, 56],
    max_abs: 1e-7 * (1 + ((i * 31 + t) % 97)),
    max_rel: 0,
    max_ulp: (i * t) % 50,
    cosine: 1,
    sqnr_db: 100,
    kl: 0,
    different_elements: i % 5,
    elements: 200704,
    left_ns: 1000 + i,
    right_ns: 900 * (t + 1) + (i % 700),
  });
  const verify = (target, t) => ({
    format: "driftscope-verify-1",
    model_sha256: "",
    target,
    verdict: "rounding",
    first_fault: null,
    layers: Array.from({ length: layers }, (_, i) => ({
      ...layer(i, t),
      verdict: i % 3 ? "identical" : "rounding",
      budget_used: (i % 90) / 100,
      budget_used_statistical: 0,
      mean_abs: 0,
      mean_signed_z: 0,
      nan: 0,
      inf: 0,
    })),
  });
  const right = Array.from({ length: targets - 1 }, (_, t) => ({
    target: `host${t}/strict`,
    verify: verify(`host${t}/strict`, t + 1),
    first_divergence: null,
    layers: Array.from({ length: layers }, (_layer, i) => layer(i, t + 1)),
    output: {},
    memory: { peak_bytes: 1e9, kind: "process_pss" },
  }));
  const file = join(folder, "many.json");
  writeFileSync(
    file,
    JSON.stringify({
      format: "driftscope-compare-1",
      left: { target: "pc/strict", verify: verify("pc/strict", 0) },
      right,
    }),
  );
  return file;
}

function largeTensor(name, shift) {
  const shape = [1, 64, 224, 224];
  const values = new Float32Array(shape.reduce((a, b) => a * b));
  for (let i = 0; i < values.length; ++i) values[i] = Math.sin(i * 0.001) * (1 + (i % 13 === 0 ? shift : 0));
  const file = join(folder, `${name}.safetensors`);
  writeSafetensors(
    file,
    new Map([["features", { dtype: "F32", shape, bytes: Buffer.from(values.buffer) }]]),
    { format: "driftscope-trace-1", target: `${name}/strict` },
  );
  return file;
}

function measure(title, lines, files) {
  const done = gui(folder, ["idle", ...lines], { files });
  if (done.status !== 0) throw new Error(done.stderr);
  console.log(`${title}\n${done.stdout.replace(/^/gm, "  ").trimEnd()}`);
}

const many = manyLayers(10_000, 6);
for (const view of ["Layers", "Drift", "Time", "Graph"])
  measure(
    `${view}, 10,000 layers, 6 targets`,
    [`view ${view}`, "speed 100", "size 1920 1080", "speed 100", "size 3840 2160", "speed 20"],
    [many],
  );
const large = [largeTensor("left", 0), largeTensor("right", 1e-6)];
measure(
  "Tensor, one channel of 64×224×224",
  ["view Tensor", "key Home", "speed 200", "size 1920 1080", "speed 200"],
  large,
);
measure(
  "Tensor, all 64 channels side by side",
  ["view Tensor", "key Home", "frames 3", "click 440 85", "shot tiles.png", "speed 200"],
  large,
);
const traces = process.argv.slice(2).map((path) => resolve(path));
if (traces.length > 0)
  measure(
    `memory, ${traces.length} traces open`,
    ["view Layers", "memory", "view Tensor", "frames 5", "memory"],
    traces,
  );
