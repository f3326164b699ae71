// Third-party runtimes without the wasm engine: onnxruntime-web, and a tiny one.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";

import { Peers } from "../../../web/peers/peers.mjs";
import { temporaryFolder } from "../../e2e/support.mjs";

const memory = { buffer: new ArrayBuffer(64) };
const ort = { peer: "ort" };
const create = {
  ...ort,
  do: "create",
  bytes: { at: 0, bytes: 8 },
  files: [],
  options: { opt: "all" },
  threads: 1,
};

test("a site without onnxruntime-web says so, in its own words", async () => {
  const host = new Peers(new URL("file:///nonexistent/engine/"));
  const { model } = host.request(create, memory);
  assert.deepEqual(host.request({ ...ort, do: "look", model }, memory), { busy: true });
  await host.settled();
  const { error } = host.request({ ...ort, do: "look", model }, memory);
  assert.equal(error.kind, "missing");
  assert.equal(error.own, true);
  assert.match(error.message, /lacks onnxruntime-web .*tools\/setup/);
  assert.deepEqual(host.request({ ...ort, do: "heap" }, memory), { bytes: null });
  assert.deepEqual(host.request({ ...ort, do: "release", model }, memory), {});
  await host.settled();
});

/** Packages with onnxruntime-web 1.2.3, whose module says that it is `version`. */
function fetchedPackage(t, version, files = ["dist/ort.wasm.bundle.min.mjs"]) {
  const folder = temporaryFolder(t);
  const dist = join(folder, "onnxruntime-web@1.2.3", "dist");
  mkdirSync(dist, { recursive: true });
  writeFileSync(
    join(dist, "..", "driftscope-package.json"),
    JSON.stringify({ files: files.map((path) => ({ path })) }),
  );
  writeFileSync(
    join(dist, "ort.wasm.bundle.min.mjs"),
    `export const env = { wasm: {}, versions: { web: "${version}" } };
    export const InferenceSession = { create: async () => ({}) };`,
  );
  return new Peers(new URL("file:///nonexistent/engine/"), undefined, pathToFileURL(`${folder}/`));
}

async function opened(peers, options) {
  const { model } = peers.request({ ...create, options: { opt: "all", ...options } }, memory);
  await peers.settled();
  return peers.request({ ...ort, do: "look", model }, memory);
}

test("another release is loaded from its package, and must be what it is called", async (t) => {
  const right = await opened(fetchedPackage(t, "1.2.3"), { release: "1.2.3" });
  assert.equal(right.error, undefined);
  assert.equal(right.about.threads, 1);
  const other = await opened(fetchedPackage(t, "1.2.4"), { release: "1.2.3" });
  assert.match(other.error.message, /1\.2\.3 was asked for, 1\.2\.4 came/);
  const absent = await opened(fetchedPackage(t, "1.2.3"), { release: "1.9.9" });
  assert.equal(absent.error.kind, "missing");
  assert.match(absent.error.message, /onnxruntime-web 1\.9\.9 is not here/);
  const without = await opened(fetchedPackage(t, "1.2.3", ["dist/ort.min.js"]), { release: "1.2.3" });
  assert.equal(without.error.kind, "unsupported");
  assert.match(without.error.message, /1\.2\.3 has no build wasm that is a module/);
});

test("a model of another release gets another runtime, the next one of the same release not", async (t) => {
  const peers = fetchedPackage(t, "1.2.3");
  assert.equal((await opened(peers, { release: "1.2.3" })).error, undefined);
  assert.match((await opened(peers, {})).error.message, /lacks onnxruntime-web/);
  assert.equal((await opened(peers, { release: "1.2.3" })).error, undefined);
});

test("a request that cannot be fulfilled is answered, not thrown", () => {
  const host = new Peers(new URL("file:///nonexistent/engine/"));
  const { error } = host.request({ ...ort, do: "copy", model: 7, to: [] }, memory);
  assert.equal(error.kind, "internal");
});

// A module whose threads start at the `works`th attempt (with onnxruntime-web's messages, but immediately).
function failingStarts(t, works) {
  globalThis.starts = 0;
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, "ort"));
  writeFileSync(
    join(folder, "ort", "ort.wasm.bundle.min.mjs"),
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
  return new Peers(pathToFileURL(`${folder}/engine/`));
}

test("threads that did not start are started again by another module", async (t) => {
  const host = failingStarts(t, 2);
  const { model } = host.request(create, memory);
  await host.settled();
  assert.equal(host.request({ ...ort, do: "look", model }, memory).error, undefined);
  assert.equal(globalThis.starts, 2);
  assert.equal(host.stuck, null);
});

test("threads of a failed start are ended, those of the next stay until the host is closed", async (t) => {
  const made = [];
  class Worker extends EventTarget {
    constructor() {
      super();
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

test("if that does not help either, another worker may succeed", async (t) => {
  const host = failingStarts(t, 3);
  const { model } = host.request(create, memory);
  await host.settled();
  const { error } = host.request({ ...ort, do: "look", model }, memory);
  assert.equal(error.kind, "missing");
  assert.match(error.message, /onnxruntime-web could not start: .*timeout/);
  assert.deepEqual(host.stuck, error);
});

// A runtime that doubles its first input, and whose constants it is given by value.
function tinyPeer(t) {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, "tiny"));
  writeFileSync(
    join(folder, "tiny", "tiny.mjs"),
    `
    export class Peer {
      stuck = null;
      async open(request) {
        if (request.graph?.outputs.length === 0) throw new Error("nothing to compute");
        if (request.options?.hang) await new Promise(() => {});
        return (globalThis.opened = request);
      }
      tensor(dtype, shape, buffer) {
        return { dtype, shape, data: new Float32Array(buffer) };
      }
      async run(session, inputs, outputs, { timed }) {
        const [{ dtype, shape, data }] = Object.values(inputs);
        const values = outputs.map(() => ({ dtype, shape, data: data.map((x) => 2 * x) }));
        return timed ? { values, times: [["y", 0.5]], time_ms: 2 } : values;
      }
      release() {}
      about() {
        return { threads: 1, instruction_set: "none", options: { backend: "tiny" } };
      }
      heap() {
        return 123;
      }
      failure(error, rejection) {
        return { kind: rejection, message: error.message };
      }
      died() {}
      close() {}
    }`,
  );
  t.after(() => delete globalThis.opened);
  return new Peers(new URL("file:///nonexistent/engine/"), pathToFileURL(`${folder}/`).href);
}

test("a runtime that takes our graph gets its constants, runs, and returns its values", async (t) => {
  const peers = tinyPeer(t);
  const heap = { buffer: new ArrayBuffer(64) };
  new Float32Array(heap.buffer).set([1.5, 2.5, 7, 8]);
  const graph = {
    outputs: ["y"],
    constants: { w: { dtype: "float32", shape: [2], at: 8, bytes: 8 } },
    nodes: [{ op: "Add", inputs: ["x", null], attributes: { axes: [0, 1] } }],
  };
  const ask = (head) => peers.request({ peer: "tiny", ...head }, heap);
  const { model } = ask({ do: "create", graph, options: { precision: "fp32" }, threads: 2 });
  await peers.settled();
  const { w } = globalThis.opened.graph.constants;
  assert.deepEqual([...new Float32Array(w.data.buffer)], [7, 8]);
  assert.deepEqual(w.shape, [2]);
  assert.deepEqual(globalThis.opened.graph.nodes, graph.nodes);
  assert.deepEqual(globalThis.opened.options, { precision: "fp32" });
  const inputs = [{ name: "x", dtype: "float32", shape: [2], at: 0, bytes: 8 }];
  assert.deepEqual(ask({ do: "run", model, inputs, outputs: ["y"] }), {});
  assert.deepEqual(ask({ do: "look", model }), { busy: true });
  await peers.settled();
  const { about, values } = ask({ do: "look", model });
  assert.deepEqual(about.options, { backend: "tiny" });
  assert.deepEqual(values, [{ dtype: "float32", shape: [2], bytes: 8 }]);
  assert.deepEqual(ask({ do: "copy", model, to: [{ at: 32, bytes: 8 }] }), {});
  assert.deepEqual([...new Float32Array(heap.buffer, 32, 2)], [3, 5]);
  assert.deepEqual(ask({ do: "heap" }), { bytes: 123 });
});

test("files of a converted model are copied; times are handed over where they are wanted", async (t) => {
  const peers = tinyPeer(t);
  const heap = { buffer: new ArrayBuffer(64) };
  new Uint8Array(heap.buffer).set([1, 2, 3], 8);
  const ask = (head) => peers.request({ peer: "tiny", ...head }, heap);
  const { model } = ask({ do: "create", converted: [{ name: "m.bin", at: 8, bytes: 3 }], threads: 1 });
  await peers.settled();
  assert.deepEqual(globalThis.opened.converted, [{ name: "m.bin", data: new Uint8Array([1, 2, 3]) }]);
  ask({
    do: "run",
    model,
    inputs: [{ name: "x", dtype: "float32", shape: [1], at: 0, bytes: 4 }],
    outputs: ["y"],
    timed: true,
  });
  await peers.settled();
  const { time_ns, times } = ask({ do: "look", model });
  assert.equal(time_ns, 2e6);
  assert.deepEqual(times, [["y", 5e5]]);
});

test("a model that hangs keeps neither the poll nor the next model waiting", async (t) => {
  const peers = tinyPeer(t);
  const ask = (head) => peers.request({ peer: "tiny", ...head }, memory);
  const { model } = ask({ do: "create", graph: { outputs: ["y"] }, options: { hang: true }, threads: 1 });
  await peers.settled(); // resolves although nothing has ended
  assert.deepEqual(ask({ do: "look", model }), { busy: true });
  ask({ do: "release", model });
  const { model: next } = ask({ do: "create", graph: { outputs: ["y"] }, threads: 1 });
  await peers.idle();
  assert.deepEqual(ask({ do: "look", model: next }).about.options, { backend: "tiny" });
});

test("what a runtime throws is an error in its own words", async (t) => {
  const peers = tinyPeer(t);
  const ask = (head) => peers.request({ peer: "tiny", ...head }, memory);
  const { model } = ask({ do: "create", graph: { outputs: [] }, threads: 1 });
  await peers.idle();
  assert.deepEqual(ask({ do: "look", model }).error, { kind: "unsupported", message: "nothing to compute" });
});

test("a runtime whose adapter the site lacks is missing", async () => {
  const peers = new Peers(new URL("file:///nonexistent/engine/"), "file:///nonexistent/");
  const { model } = peers.request({ ...create, peer: "other" }, memory);
  await peers.settled();
  const { error } = peers.request({ peer: "other", do: "look", model }, memory);
  assert.equal(error.kind, "missing");
  assert.equal(error.own, true);
  assert.match(error.message, /lacks what drives other/);
});

test("errors that WebGPU reports while a runtime works are said of its model", async (t) => {
  class GPUAdapter {
    async requestDevice() {
      return new EventTarget();
    }
  }
  globalThis.GPUAdapter = GPUAdapter;
  t.after(() => delete globalThis.GPUAdapter);
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, "ort"));
  writeFileSync(
    join(folder, "ort", "ort.wasm.bundle.min.mjs"),
    `
    const device = await new GPUAdapter().requestDevice();
    export const fail = (message) =>
      device.dispatchEvent(Object.assign(new Event("uncapturederror"), { error: { message } }));
    globalThis.failWebGpu = fail;
    export const env = { wasm: {}, versions: { web: "0" } };
    export const InferenceSession = { async create() {
      const long = "x".repeat(999);
      for (let i = 0; i < globalThis.failures; ++i) fail("Invalid ComputePipeline\\n - While " + long);
      return {};
    } };`,
  );
  const host = new Peers(pathToFileURL(`${folder}/engine/`));
  const errors = async (failures) => {
    globalThis.failures = failures;
    const { model } = host.request(create, memory);
    await host.idle();
    return host.request({ ...ort, do: "look", model }, memory).about.device_errors;
  };
  assert.equal(await errors(0), undefined);
  const [said, ...others] = await errors(2);
  assert.deepEqual(others, []);
  assert.match(said, /^errors of WebGPU: 2, the first: Invalid ComputePipeline - While x+…$/);
  assert.ok(said.length < 500);
  // What happens between is no model's.
  globalThis.failWebGpu("late");
  assert.equal(await errors(0), undefined);
  assert.match((await errors(1))[0], /^errors of WebGPU: 1, the first: Invalid/);
});
