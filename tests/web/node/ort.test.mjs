// The host of onnxruntime-web without the wasm engine before it.
import assert from "node:assert/strict";
import { test } from "node:test";

import { OrtHost } from "../../../web/ort.mjs";

const memory = { buffer: new ArrayBuffer(64) };
const create = { do: "create", model: { at: 0, bytes: 8 }, files: [], optimization: "all", threads: 1 };

test("a site without onnxruntime-web says so, in its own words", async () => {
  const host = new OrtHost(new URL("file:///nonexistent/"));
  const { model } = host.request(create, memory);
  assert.deepEqual(host.request({ do: "look", model }, memory), { busy: true });
  await host.settled();
  const { error } = host.request({ do: "look", model }, memory);
  assert.equal(error.kind, "missing");
  assert.equal(error.own, true);
  assert.match(error.message, /lacks onnxruntime-web .*tools\/setup/);
  assert.deepEqual(host.request({ do: "heap" }, memory), { bytes: null });
  assert.deepEqual(host.request({ do: "release", model }, memory), {});
  await host.settled();
});

test("a request that cannot be met is answered, not thrown", () => {
  const host = new OrtHost(new URL("file:///nonexistent/"));
  const { error } = host.request({ do: "copy", model: 7, to: [] }, memory);
  assert.equal(error.kind, "internal");
});
