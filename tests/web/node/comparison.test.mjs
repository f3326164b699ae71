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
