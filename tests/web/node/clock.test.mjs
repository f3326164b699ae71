// The clock of the wasm engine never goes back, even if the browser's time origin does.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { pathToFileURL } from "node:url";

import { openEngine } from "../../../web/worker/engine.mjs";
import { asset, builtFile } from "../../e2e/support.mjs";

const base = pathToFileURL(builtFile("web", "site", "engine") + "/").href;

test("a time origin that moves does not move the clock", async () => {
  // As in WebKit, only worse: recomputed and rounded each time.
  let origin = performance.timeOrigin;
  Object.defineProperty(performance, "timeOrigin", { get: () => (origin -= 0.02), configurable: true });
  const engine = await openEngine({ base, variant: "driftscope-simd-threads", threads: 2 });
  engine.request("load", {}, readFileSync(asset("models", "lenet1.onnx")));
  const target = "chrome/strict:threads=2";
  const prepared = engine.request("prepare", { target, capture: "none", seed: 1 });
  assert.ok(prepared.head.clock_ns > 0, `a step of the clock: ${prepared.head.clock_ns} ns`);
  const measured = engine.request("measure", { slice_us: 20_000, inner: 1, max_runs: 0, budget_ms: 1000 });
  assert.ok(measured.head.finished && measured.head.times_ns.length >= 1);
  for (const time of measured.head.times_ns) assert.ok(time > 0, `a run: ${time} ns`);
});

// Otherwise pool workers keep Node alive.
test.after(() => setImmediate(() => process.exit()));
