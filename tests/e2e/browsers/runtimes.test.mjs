// The runtimes that people ship, in Chromium: every layer is captured and judged, and no rounding is
// called a fault.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { asset, run, temporaryFolder } from "../support.mjs";

const engines = ["tfjs-wasm", "tfjs-webgl", "tfjs-webgpu", "litert-wasm", "litert-webgpu"];

test("Compare_LeNet5OnRuntimesThatConvertIt_JudgesEveryLayer", (t) => {
  const out = join(temporaryFolder(t), "out.json");
  const right = engines.map((engine) => `chrome/${engine}`).join(",");
  const model = asset("models", "lenet5.onnx");
  const ran = run(["compare", model, "--right", right, "--repeat", "1", "--json", out]);
  assert.equal(ran.status, 0, ran.stdout + ran.stderr);
  const { left, right: targets } = JSON.parse(readFileSync(out, "utf8"));
  const layers = new Set(left.verify.layers.map(({ output }) => output));
  assert.ok(layers.size >= 10);
  assert.deepEqual(
    targets.map(({ target }) => target),
    engines.map((engine) => `chrome/${engine}`),
  );
  for (const { target, verify } of targets) {
    assert.match(verify.verdict, /^(identical|rounding)$/, target);
    assert.deepEqual(new Set(verify.layers.map(({ output }) => output)), layers, target);
  }
});
