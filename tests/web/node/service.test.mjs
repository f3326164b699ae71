// The wasm engine under Node, through the same module that the page's worker uses.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { setFlagsFromString } from "node:v8";

import { ServiceError, openEngine, variants } from "../../../web/worker/engine.mjs";
import { asset, builtFile, driftscope, readSafetensors, run, temporaryFolder } from "../../e2e/support.mjs";

// Node 20 has it behind a flag, later ones without.
if (process.version.startsWith("v20.")) setFlagsFromString("--experimental-wasm-relaxed-simd");

const base = pathToFileURL(builtFile("web", "site", "engine") + "/").href;

function runToEnd(engine, start, inputs) {
  engine.request("start", start, inputs);
  for (;;) {
    const { head } = engine.request("poll", { budget_ms: 20 });
    if (head.finished) return engine.request("finish");
  }
}

for (const { name, threads: withThreads } of variants) {
  const threads = withThreads ? 2 : 1;

  test(`${name} runs LeNet-5 with the bits of the PC`, async (t) => {
    const folder = temporaryFolder(t);
    const native = join(folder, "native.safetensors");
    const done = run(["run", asset("models", "lenet5.onnx"), "--target", "pc/strict", "--trace", native]);
    assert.equal(done.status, 0, `${driftscope}: ${done.stderr}`);
    const engine = await openEngine({ base, variant: name, threads });
    const loaded = engine.request("load", {}, readFileSync(asset("models", "lenet5.onnx")));
    const sha256 = createHash("sha256").update(readFileSync(asset("models", "lenet5.onnx")));
    assert.equal(loaded.head.model_sha256, sha256.digest("hex"));
    const target = `chrome/strict:threads=${threads}`;
    const { head, payload } = runToEnd(engine, { target, seed: 42 });
    t.diagnostic(
      `${head.run.instruction_set}, ${head.run.threads_real} of ${head.run.threads_asked} threads`,
    );
    assert.equal(head.run.threads_real, threads);
    assert.match(head.run.instruction_set, /SIMD128/);
    writeFileSync(join(folder, "wasm.safetensors"), payload);
    const left = readSafetensors(native).tensors;
    const right = readSafetensors(join(folder, "wasm.safetensors")).tensors;
    assert.ok(left.size > 10);
    assert.deepEqual([...right.keys()].sort(), [...left.keys()].sort());
    for (const [value, tensor] of left) assert.ok(tensor.bytes.equals(right.get(value).bytes), value);
  });

  test(`${name} reads weights when a session is prepared, whatever was asked before`, async () => {
    const answers = [];
    for (const target of ["chrome/strict", "chrome/fast"])
      for (const once of [false, true]) {
        const engine = await openEngine({ base, variant: name, threads });
        engine.request("load", { target, once }, readFileSync(asset("models", "lenet5.onnx")));
        engine.request("capabilities");
        const { head } = runToEnd(engine, { target: `${target}:threads=${threads}`, seed: 42 });
        answers.push(head.outputs[0].values);
      }
    assert.ok(answers[0].length === 10);
    assert.deepEqual(answers[1], answers[0]);
    assert.deepEqual(answers[3], answers[2]);
  });

  test(`${name} answers a broken model with an error and continues`, async () => {
    const engine = await openEngine({ base, variant: name, threads });
    const model = readFileSync(asset("models", "lenet1.onnx"));
    for (const length of [0, 1, 100, model.length >> 1, model.length - 1])
      assert.throws(() => engine.request("load", {}, model.subarray(0, length)), ServiceError);
    engine.request("load", {}, model);
    const { head } = runToEnd(engine, { target: "chrome/reference", seed: 1 });
    assert.equal(head.outputs[0].values.length, 10);
  });
}

test("a second run in one engine has its threads again", async () => {
  const engine = await openEngine({ base, variant: "driftscope-simd-threads", threads: 3 });
  engine.request("load", {}, readFileSync(asset("models", "lenet1.onnx")));
  for (let i = 0; i < 5; ++i) {
    const { head } = runToEnd(engine, { target: "chrome/strict:threads=3", seed: i });
    assert.equal(head.run.threads_real, 3);
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
});

// Otherwise pool workers keep Node alive.
test.after(() => setImmediate(() => process.exit()));
