// The page's side of a worker, with scripted workers.
import assert from "node:assert/strict";
import { test } from "node:test";

import { runInWorker } from "../../../web/worker/runner.mjs";

// One worker for each list of messages.
function workersThatSay(t, ...scripts) {
  const made = [];
  const before = globalThis.Worker;
  t.after(() => (globalThis.Worker = before));
  globalThis.Worker = class {
    terminated = false;
    constructor() {
      made.push(this);
      this.says = scripts[made.length - 1];
    }
    postMessage(task) {
      this.task = task;
      for (const data of this.says) queueMicrotask(() => this.onmessage({ data }));
    }
    terminate() {
      this.terminated = true;
    }
  };
  return made;
}

const failed = (stuck) => ({ type: "error", kind: "missing", message: "its threads did not start", stuck });

test("a worker that is stuck is replaced by another, with the same task", async (t) => {
  const made = workersThatSay(t, [failed(true)], [{ type: "done", answers: 7 }]);
  const task = { variant: "v", model: new Uint8Array([1]) };
  assert.equal((await runInWorker(task)).answers, 7);
  assert.equal(made.length, 2);
  assert.ok(made.every(({ terminated }) => terminated));
  // Each has ports of its own, to the page's devices and to say that it lives.
  const [first, second] = made.map(({ task: { devices, alive, ...rest } }) => {
    assert.ok(devices instanceof MessagePort);
    assert.ok(alive instanceof MessagePort);
    return rest;
  });
  assert.deepEqual(second, first);
});

test("a second worker that is stuck is an error", async (t) => {
  const made = workersThatSay(t, [failed(true)], [failed(true)], []);
  await assert.rejects(runInWorker({}), { kind: "missing", message: "its threads did not start" });
  assert.equal(made.length, 2);
});

test("any other error is not tried again", async (t) => {
  const made = workersThatSay(t, [failed(false)], []);
  await assert.rejects(runInWorker({}), { kind: "missing" });
  assert.equal(made.length, 1);
});
