// The host of onnxruntime-web without the wasm engine before it.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";

import { OrtHost } from "../../../web/peers/ort/ort.mjs";
import { temporaryFolder } from "../../e2e/support.mjs";

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

// A module whose threads start at the `works`th attempt (as onnxruntime-web says it, but at once).
function failingStarts(t, works) {
  globalThis.starts = 0;
  const folder = temporaryFolder(t);
  writeFileSync(
    join(folder, "ort.wasm.bundle.min.mjs"),
    `
    export const env = { wasm: {}, versions: { web: "0" } };
    export const InferenceSession = { async create() {
      if (globalThis.Worker) new Worker("thread");
      if (++globalThis.starts < ${works})
        throw new Error("no available backend found. ERR: [wasm] Error: " +
          "WebAssembly backend initializing failed due to timeout: 1ms");
      return {};
    } };`,
  );
  return new OrtHost(pathToFileURL(`${folder}/`));
}

test("threads that did not start are started again by another module", async (t) => {
  const host = failingStarts(t, 2);
  const { model } = host.request(create, memory);
  await host.settled();
  assert.equal(host.request({ do: "look", model }, memory).error, undefined);
  assert.equal(globalThis.starts, 2);
  assert.equal(host.stuck, null);
});

test("threads of a failed start are ended, those of the next stay until the host is closed", async (t) => {
  const made = [];
  class Worker {
    constructor() {
      made.push(this);
    }
    terminate() {
      this.ended = true;
    }
  }
  globalThis.Worker = Worker;
  t.after(() => delete globalThis.Worker);
  const host = failingStarts(t, 2);
  host.request(create, memory);
  await host.settled();
  assert.deepEqual(
    made.map(({ ended }) => ended),
    [true, undefined],
  );
  assert.equal(globalThis.Worker, Worker);
  host.close();
  assert.deepEqual(
    made.map(({ ended }) => ended),
    [true, true],
  );
});

test("where that helps not either, another worker may have more luck", async (t) => {
  const host = failingStarts(t, 3);
  const { model } = host.request(create, memory);
  await host.settled();
  const { error } = host.request({ do: "look", model }, memory);
  assert.equal(error.kind, "missing");
  assert.match(error.message, /onnxruntime-web could not start: .*timeout/);
  assert.deepEqual(host.stuck, error);
});
