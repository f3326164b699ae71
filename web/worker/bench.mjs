// A target of a bench: loads the model once, then responds to the PC's requests until there are no more.
// Client: worker.mjs. The HTTP side is described in native/http/server.hpp.
import { checkDocument, checkResponse } from "./client.mjs";
import { openEngine } from "./engine.mjs";
import { pause } from "../shared/pause.mjs";

// The browser's work after a request (closing it, waking its processes) must not fall into a reading.
const settleMs = 4;
// The PC considers a silent page to be hanging; see job.mjs.
const heartbeatMs = 400;

async function nextRequest(url) {
  for (;;) {
    const response = await fetch(`${url}/request`, { cache: "no-store" });
    if (response.status === 200) return response.json();
    if (response.status !== 204) return null; // the job is over
  }
}

async function send(url, what, value) {
  const headers = { "Content-Type": "application/json" };
  await fetch(`${url}/${what}`, { method: "POST", headers, body: JSON.stringify(value) });
}

async function respondTo(engine, { do: name, ...fields }, url) {
  await pause(settleMs);
  let sentAt = performance.now();
  for (;;) {
    const { head } = engine.request(name, fields);
    if (head.finished !== false) return head;
    // Nothing but the run may be measured; while the engine prepares, nothing is.
    if (head.waiting)
      await (head.preparing ? Promise.race([engine.settled(), pause(heartbeatMs)]) : engine.settled());
    if (head.waiting && !(head.preparing && performance.now() - sentAt > heartbeatMs)) continue;
    sentAt = performance.now();
    const { prepared, to_prepare } = head;
    const alive = { phase: "run", done: Math.floor(sentAt), prepared, to_prepare };
    await send(url, "progress", checkDocument(engine.messages, "progress", alive));
  }
}

/**
 * `task` as in runner.mjs, with `bench` = the job's URL; `start` is the request "prepare". `phase(name)`
 * is called with the current step.
 */
export async function runBench(task, phase) {
  const { base, variant, threads, devices, memory, model, bench, start, inputs, table } = task;
  const times = {};
  let begin = performance.now();
  const lap = (name) => {
    times[name] = performance.now() - begin;
    begin = performance.now();
  };
  await phase("compile");
  const engine = await openEngine({ base, variant, threads, devices, memory });
  lap("compile_ms");
  engine.request("load", { target: start.target, attachments: table, once: true, unhashed: true }, model);
  lap("read_ms");
  const { head: prepared } = engine.request("prepare", start, inputs);
  await engine.prepared();
  lap("prepare_ms");
  await phase("run");
  let count = 0;
  for (;;) {
    const request = await nextRequest(bench);
    if (request === null) return { answers: count };
    ++count;
    const hello = request.do === "hello";
    const response = hello
      ? checkResponse(engine.messages, "hello", { times, prepared })
      : await respondTo(engine, request, bench);
    await send(bench, "response", response);
  }
}
