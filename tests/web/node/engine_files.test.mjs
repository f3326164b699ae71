// An engine is two files: what usual runs call, and the rest, which is fetched when it is called
// (cmake/split_engine.mjs). Under Node, where it can be seen which files are read.
import assert from "node:assert/strict";
import fs from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";

import "../../../web/shared/node_relaxed_simd.mjs";
import { openEngine, runToEnd, variants } from "../../../web/worker/engine.mjs";
import { onnxModel } from "../../e2e/onnx_model.mjs";
import { asset, builtFile, temporaryFolder } from "../../e2e/support.mjs";

const built = builtFile("web", "site", "engine");
const baseOf = (folder) => pathToFileURL(`${folder}/`).href;

/** The second files that are read while `work` runs. */
async function secondFilesOf(work) {
  const { readFileSync } = fs;
  const read = [];
  fs.readFileSync = (file, ...options) => {
    if (String(file).endsWith(".more.wasm")) read.push(String(file));
    return readFileSync(file, ...options);
  };
  try {
    await work();
  } finally {
    fs.readFileSync = readFileSync;
  }
  return read;
}

async function outputsOf(engine, model, target) {
  engine.request("load", { target, once: true }, model);
  engine.request("start", { target, seed: 42, unwatched_ms: 1 });
  await engine.prepared();
  await runToEnd(engine, 20);
  return engine.request("finish").head.outputs;
}

const shipped = fs.readdirSync(asset("models")).filter((name) => name.endsWith(".onnx"));

// Few models have CumSum.
const sums = onnxModel({
  nodes: [["CumSum", ["x", "axis"], ["y"], { reverse: 1 }]],
  constants: { axis: { dtype: "int64", shape: [], values: [1] } },
  inputs: { x: { dtype: "float32", shape: [2, 3] } },
  outputs: { y: { dtype: "float32", shape: [2, 3] } },
});

for (const { name } of variants)
  test(`${name} fetches the rest of it once, for an operator that few models have`, async () => {
    const outputs = [];
    const read = await secondFilesOf(async () => {
      const engine = await openEngine({ base: baseOf(built), variant: name, threads: 1 });
      for (let i = 0; i < 2; ++i) outputs.push(await outputsOf(engine, sums, "node/strict"));
    });
    assert.equal(read.length, 1);
    assert.ok(read[0].endsWith(`${name}.more.wasm`));
    assert.deepEqual(outputs[0], outputs[1]);
    // Of each row the last element is itself, and the first one the sum of all.
    const [{ values }] = outputs[0];
    assert.ok(Math.abs(values[0] - values[1]) > 0);
    assert.ok(values.every(Number.isFinite));
  });

/** A folder with the engine `name`, whose second file `change` makes of the one that was built. */
function copyOf(t, name, change) {
  const folder = temporaryFolder(t);
  for (const file of [`${name}.mjs`, `${name}.wasm`, "messages.mjs"])
    fs.copyFileSync(join(built, file), join(folder, file));
  const more = change(fs.readFileSync(join(built, `${name}.more.wasm`)));
  if (more) fs.writeFileSync(join(folder, `${name}.more.wasm`), more);
  return folder;
}

for (const { name, threads: withThreads } of variants)
  test(`${name} runs the shipped models with its first file alone`, async (t) => {
    const threads = withThreads ? 2 : 1;
    const base = baseOf(copyOf(t, name, () => null));
    const engine = await openEngine({ base, variant: name, threads, memory: 2 ** 31 });
    for (const model of shipped)
      for (const target of [`node/strict:threads=${threads}`, `node/fast:threads=${threads}`]) {
        const outputs = await outputsOf(engine, fs.readFileSync(asset("models", model)), target);
        assert.ok(outputs.length > 0);
      }
  });

for (const [what, change, expected] of [
  ["is missing", () => null, /the rest of the engine could not be fetched from .*\.more\.wasm: ENOENT/],
  ["is a page", () => "<!doctype html>", /the rest of the engine could not be fetched .*WebAssembly\.Module/],
  ["is cut off", (file) => file.subarray(0, 1000), /the rest of the engine could not be fetched/],
  [
    "is of another build",
    (file) => Buffer.concat([file.subarray(0, -1), Buffer.from([file.at(-1) ^ 1])]),
    /renewed while it was in use: load it again/,
  ],
])
  test(`a second file that ${what} is an error that says so`, async (t) => {
    const name = "driftscope-simd";
    const engine = await openEngine({ base: baseOf(copyOf(t, name, change)), variant: name, threads: 1 });
    await assert.rejects(outputsOf(engine, sums, "node/strict"), expected);
  });

// Otherwise pool workers keep Node alive.
test.after(() => setImmediate(() => process.exit()));
