// Captured values leave a browser while it runs: its engine's memory need not hold them.
import assert from "node:assert/strict";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { driftscope, readSafetensors, run, temporaryFolder } from "../support.mjs";
import { chain } from "../tiny_onnx.mjs";

const MiB = 2 ** 20;

for (const host of ["chrome", "firefox", "safari"])
  test(`AllValuesOfALongRun_${host}_StreamWithBoundedMemory`, (t) => {
    const folder = temporaryFolder(t);
    const model = join(folder, "chain.onnx");
    const trace = join(folder, "trace.safetensors");
    writeFileSync(model, chain("Neg", 40, [1, 1024, 1024])); // 40 values of 4 MiB
    const ran = run(["run", model, "--target", `${host}/strict`, "--repeat", "2", "--trace", trace]);
    assert.equal(ran.status, 0, ran.stderr);
    const { metadata, tensors } = readSafetensors(trace);
    assert.equal(tensors.size, 41);
    const [x, y, v0] = ["x", "y", "v0"].map((name) => tensors.get(name).bytes);
    assert.ok(y.equals(x)); // an even number of signs
    assert.ok(!v0.equals(x));
    for (let i = 0; i < 39; ++i) assert.ok(tensors.get(`v${i}`).bytes.equals(i % 2 ? x : v0), `v${i}`);
    const heap = Math.max(
      ...JSON.parse(metadata.memory)
        .filter(({ kind }) => kind === "wasm_heap")
        .map(({ bytes }) => bytes),
    );
    t.diagnostic(
      `wasm heap ${(heap / MiB).toFixed(1)} MiB for ${(tensors.size * x.length) / MiB} MiB of values`,
    );
    assert.ok(heap < 64 * MiB, `${heap / MiB} MiB`);
    assert.deepEqual(readdirSync(folder).sort(), ["chain.onnx", "trace.safetensors"]);
  });

test("DiskThatFillsWhileABrowserRuns_SaysSo_AndLeavesNothing", (t) => {
  const folder = temporaryFolder(t);
  const model = join(folder, "chain.onnx");
  writeFileSync(model, chain("Neg", 40, [1, 1024, 1024]));
  // 100 MiB per file: enough for the browser's own files, not for the trace.
  const command = 'ulimit -f 102400; exec "$0" run "$1" --target chrome/strict --trace "$2"';
  const ran = run(["-c", command, driftscope, model, join(folder, "trace.safetensors")], { program: "bash" });
  assert.equal(ran.status, 2, ran.stderr);
  assert.match(ran.stderr, /cannot write .*trace\.safetensors.*nothing was left behind/);
  assert.deepEqual(readdirSync(folder), ["chain.onnx"]);
});
