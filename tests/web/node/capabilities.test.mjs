// Which build the page takes, for browsers that are not here.
import assert from "node:assert/strict";
import { test } from "node:test";

import { environment, pickVariant, threadsFor } from "../../../web/page/capabilities.mjs";

const modern = {
  browser: "Test 1",
  wasm: true,
  simd: true,
  exceptions: true,
  relaxedSimd: true,
  isolated: true,
  threads: true,
  cores: 8,
};

test("an isolated browser gets threads, as many as it has cores", () => {
  const variant = pickVariant(modern);
  assert.equal(variant.name, "driftscope-relaxed-threads");
  assert.equal(threadsFor(variant, modern, 0), 8);
  assert.equal(threadsFor(variant, modern, 3), 3);
  assert.equal(threadsFor(variant, modern, 100000), 64);
});

test("without isolation or shared memory there is one thread, and it says why", () => {
  const open = { ...modern, isolated: false, threads: false };
  assert.equal(pickVariant(open).name, "driftscope-relaxed");
  assert.match(pickVariant(open).why, /not cross-origin isolated/);
  assert.match(pickVariant({ ...modern, threads: false }).why, /no SharedArrayBuffer/);
  assert.equal(threadsFor(pickVariant(open), open, 4), 1);
});

test("without relaxed SIMD there is SIMD128, and it says why", () => {
  const webKit = { ...modern, relaxedSimd: false };
  assert.equal(pickVariant(webKit).name, "driftscope-simd-threads");
  assert.match(pickVariant(webKit).why, /no relaxed SIMD/);
  assert.equal(pickVariant({ ...webKit, threads: false }).name, "driftscope-simd");
});

test("a requested build is used, or none, with the reason", () => {
  assert.equal(pickVariant(modern, "simd").name, "driftscope-simd");
  assert.equal(pickVariant(modern, "simd").threads, false);
  assert.match(pickVariant({ ...modern, relaxedSimd: false }, "relaxed").why, /no relaxed SIMD/);
  assert.match(pickVariant({ ...modern, threads: false }, "simd-threads").why, /SharedArrayBuffer/);
  assert.equal(pickVariant(modern, "simd512").name, null);
  assert.match(pickVariant(modern, "simd512").why, /there are relaxed-threads, simd-threads/);
});

test("without SIMD nothing runs, and it names what is lacking", () => {
  const old = { ...modern, simd: false, exceptions: false };
  assert.equal(pickVariant(old).name, null);
  assert.match(pickVariant(old).why, /SIMD, WebAssembly exceptions/);
});

test("the trace's environment is flat", () => {
  for (const value of Object.values(environment({ ...modern, memoryGb: null }, pickVariant(modern))))
    assert.ok(value === null || value === undefined || typeof value !== "object");
});
