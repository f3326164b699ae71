// A comparison on the page, with a scripted engine and scripted workers.
import assert from "node:assert/strict";
import { test } from "node:test";

import { compareTargets } from "../../../web/page/comparison.mjs";
import { coordinate } from "../../../web/worker/coordinator.mjs";

function engineThatSays(steps) {
  const asked = [];
  const request = (name, fields, trace) => {
    asked.push({ do: name, ...fields, ...(trace && { payload: trace }) });
    if (name === "topology") return { head: { nodes: ["n"] } };
    if (name === "capabilities") return { head: { metrics: ["m"] } };
    const payload = new TextEncoder().encode('{"format":"f"}');
    return { head: name === "advance" ? steps.shift() : {}, payload };
  };
  return { asked, request };
}

test("the worker that stays asks for runs, and hands their ends to the engine", async () => {
  const run = { id: 1, place: 0, target: "a/strict", purpose: "layers" };
  const engine = engineThatSays([
    { run },
    {},
    { result: { place: 0 }, run: { ...run, id: 2 } },
    { finished: true },
  ]);
  const ends = [{ trace: "t" }, { error: { kind: "io", message: "gone" } }];
  const results = [];
  await coordinate(
    engine,
    { targets: ["a/strict"], threads: 2 },
    { ask: async () => ends.shift(), report: (result) => results.push(result) },
  );
  assert.deepEqual(results, [{ place: 0, comparison: { format: "f" }, topology: ["n"], metrics: ["m"] }]);
  assert.deepEqual(engine.asked.slice(2), [
    { do: "compare", targets: ["a/strict"], threads: 2 },
    { do: "advance" },
    { do: "advance", run: 1, error: undefined, payload: "t" },
    { do: "advance" },
    { do: "advance", run: 2, error: { kind: "io", message: "gone" } },
  ]);
});

test("the last result comes with the end", async () => {
  const engine = engineThatSays([{ finished: true, result: { place: 0 } }]);
  const results = [];
  await coordinate(
    engine,
    { targets: [] },
    { ask: () => assert.fail(), report: (result) => results.push(result) },
  );
  assert.equal(results.length, 1);
});

/** Workers of two kinds: the first one stays and sends `script`, the others send one or several of `runs`. */
function workers(t, script, runs) {
  const made = [];
  const before = globalThis.Worker;
  t.after(() => (globalThis.Worker = before));
  globalThis.Worker = class {
    terminated = false;
    answers = [];
    constructor() {
      made.push(this);
    }
    postMessage(message) {
      const stays = this === made[0];
      if (stays && !message.compare) this.answers.push(message);
      const next = stays ? script.shift() : runs.shift();
      for (const data of next ? [next].flat() : []) queueMicrotask(() => this.onmessage({ data }));
    }
    terminate() {
      this.terminated = true;
    }
  };
  return made;
}

const ask = (place, purpose = "layers") => ({
  type: "ask",
  id: place + 1,
  place,
  target: `t${place}`,
  purpose,
});
const callbacks = (more = {}) => ({ onStep: () => {}, onRun: () => {}, onResult: () => {}, ...more });
const runOf = () => ({ inputs: new Uint8Array(0), start: {} });

test("a run that fails is the answer to its question; the others continue", async (t) => {
  const failure = { type: "error", kind: "limit", message: "too large" };
  const made = workers(t, [ask(0), ask(1), { type: "done" }], [failure, failure]);
  await compareTargets({ targets: ["t0", "t1"] }, {}, runOf, callbacks());
  const answer = { error: { kind: "limit", message: "too large" } };
  assert.deepEqual(made[0].answers, [answer, answer]);
  assert.equal(made.length, 3);
  assert.ok(made.every(({ terminated }) => terminated));
});

test("a step is what the worker does, and how much of it is done", async (t) => {
  const run = [
    { type: "phase", phase: "compile" },
    { type: "progress", done: 0, total: 7, prepared: 12, to_prepare: 40 },
    { type: "phase", phase: "run" },
    { type: "progress", done: 3, total: 7, prepared: 0, to_prepare: 0 },
    { type: "phase", phase: "time" },
    { type: "error", kind: "io", message: "enough" },
  ];
  workers(t, [ask(1), { type: "done" }], [run]);
  const steps = [];
  const onStep = (place, { step, done, total }) => place === 1 && steps.push(`${step} ${done}/${total}`);
  await compareTargets({ targets: ["t0", "t1"] }, {}, runOf, callbacks({ onStep }));
  assert.deepEqual(steps, [
    "starting 0/0",
    "preparing 0/0",
    "compiling shaders 12/40",
    "running 0/0",
    "running 3/7",
    "measuring its time 0/0",
  ]);
});

/** A trace with one tensor. */
function writeTrace(metadata, values) {
  const data = new Uint8Array(Float32Array.from(values).buffer);
  const header = {
    __metadata__: metadata,
    x: { dtype: "F32", shape: [values.length], data_offsets: [0, data.length] },
  };
  const text = Buffer.from(JSON.stringify(header));
  const size = Buffer.alloc(8);
  size.writeBigUInt64LE(BigInt(text.length));
  return new Uint8Array(Buffer.concat([size, text, data]));
}

function readTrace(bytes) {
  const size = 8 + Number(Buffer.from(bytes).readBigUInt64LE());
  assert.equal(size % 8, 0);
  const { __metadata__: metadata, x } = JSON.parse(Buffer.from(bytes.subarray(8, size)).toString());
  const data = bytes.slice(size + x.data_offsets[0], size + x.data_offsets[1]);
  return { metadata, values: [...new Float32Array(data.buffer)] };
}

test("the times of a later run become those of the trace that is shown", async (t) => {
  const trace = (nodes, run, values) =>
    writeTrace({ nodes: JSON.stringify(nodes), run: JSON.stringify(run), format: "f" }, values);
  const first = trace(
    [
      { name: "a", op: "Relu", time_ns: [] },
      { name: "b", op: "Neg", time_ns: [7] },
    ],
    { engine: "fast", options: { threads: 2 } },
    [1, 2, 3],
  );
  const times = { watched_ns: [9, 8], unwatched: { median_ns: 5 } };
  const second = trace(
    [{ name: "a", op: "Relu", time_ns: [4, 3] }],
    { times, options: { node_times: "w" } },
    [],
  );
  const done = (bytes) => ({ type: "done", trace: bytes, reply: {} });
  const result = { type: "result", place: 0 };
  const script = [ask(0), [result, ask(0, "times")], [result, { type: "done" }]];
  workers(t, script, [done(first), done(second)]);
  const [shown, ran] = [[], []];
  await compareTargets({ targets: ["t0"] }, {}, runOf, {
    ...callbacks(),
    onRun: (place, task, { file }) => ran.push(file.size),
    onResult: (one) => shown.push(one.trace),
  });
  assert.deepEqual(ran, [second.length], "what the history keeps is measured");
  assert.deepEqual(shown[0], first);
  const { metadata, values } = readTrace(shown[1]);
  assert.deepEqual(values, [1, 2, 3]);
  assert.equal(metadata.format, "f");
  assert.deepEqual(JSON.parse(metadata.run), {
    engine: "fast",
    options: { threads: 2, node_times: "w" },
    times,
  });
  assert.deepEqual(JSON.parse(metadata.nodes), [
    { name: "a", op: "Relu", time_ns: [4, 3] },
    { name: "b", op: "Neg", time_ns: [7] },
  ]);
});

test("stopped, it ends the run and the worker that stays", async (t) => {
  const abort = new AbortController();
  const made = workers(t, [ask(0)], []);
  const onStep = (place, { step }) =>
    step === "starting" && made.length === 1 && setTimeout(() => abort.abort(), 5);
  await assert.rejects(
    compareTargets({ targets: ["t0"] }, {}, runOf, callbacks({ onStep, signal: abort.signal })),
    { kind: "cancelled" },
  );
  assert.equal(made.length, 2);
  assert.ok(made.every(({ terminated }) => terminated));
});
