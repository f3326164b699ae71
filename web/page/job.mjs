// A job of the waiting PC: fetches it, runs it, and sends the trace back. Client: page.mjs.
// The HTTP side is described in native/http/server.hpp.
import { environment, pickVariant, threadsFor } from "./capabilities.mjs";
import { checkDocument } from "../worker/client.mjs";
import { loadMessages } from "../worker/engine.mjs";
import { download } from "./download.mjs";
import { insist } from "../shared/insist.mjs";
import { RunError } from "../shared/errors.mjs";
import { Pulse } from "../worker/pulse.mjs";
import { runInWorker } from "../worker/runner.mjs";
import { fetchModel, inUse } from "./store.mjs";

// The PC considers a silent page to be hanging. A browser that the PC has started slows no timers of hidden
// pages (native/browser).
const heartbeatMs = 400;

// The PC accepts no report of an error that is much longer.
const longestMessage = 15_000;

function bounded(message) {
  const rest = message.length - longestMessage;
  if (rest <= 0) return message;
  return `${message.slice(0, longestMessage)} … (${rest} more characters are left out)`;
}

const engineFolder = new URL("../../engine/", import.meta.url).href;

const postJson = (url, value) =>
  fetch(url, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(value),
  });

/**
 * Reports to the PC until stopped: how far the run is, and again and again that this page lives, and since
 * when its worker has not answered. Aborts the run when the PC no longer wants it.
 */
class Heartbeat {
  #state = { phase: "open", done: 0, total: 0, sample: 0, samples: 0, prepared: 0, to_prepare: 0 };
  #timer;
  #url;
  #abort;
  #patience;
  #failures = 0;
  #underWay = new Set();
  #pulse;

  /** `patience`: so many signs in a row may be lost before the PC is taken for gone. */
  constructor(url, abort, pulse, patience) {
    this.#url = url;
    this.#patience = patience;
    this.#abort = abort;
    this.#pulse = pulse;
    this.#timer = setInterval(() => this.beat(), heartbeatMs);
  }

  async set(state) {
    const newPhase = state.phase !== this.#state.phase;
    for (const name of Object.keys(this.#state)) this.#state[name] = state[name] ?? this.#state[name];
    if (newPhase) await this.beat();
  }

  beat() {
    const sent = this.#send();
    this.#underWay.add(sent);
    return sent.finally(() => this.#underWay.delete(sent));
  }

  async #send() {
    const sign = { ...this.#state, worker_silent_ms: this.#pulse.silentMs };
    if (this.#state.phase !== "time") this.#pulse.ask(); // nothing but the run may be measured
    try {
      const response = await postJson(this.#url, sign);
      this.#failures = 0;
      if (response.status === 409 || response.status === 404) this.#abort.abort();
    } catch {
      if (++this.#failures >= this.#patience) this.#abort.abort(); // the PC is gone
    }
  }

  stop() {
    clearInterval(this.#timer);
  }

  /** No progress report may arrive after the result: the job would be over, and the response an error. */
  async end() {
    this.stop();
    await Promise.all(this.#underWay);
  }
}

async function fetchJob(messages, url, pieces) {
  const ask = async () => {
    const response = await fetch(url, { cache: "no-store" });
    if (!response.ok) throw new RunError("cancelled", "The PC no longer waits for this job.");
    return response.json();
  };
  const job = await (pieces ? insist(ask) : ask());
  if (job.format !== "driftscope-job-1")
    throw new RunError("internal", `This page does not know the job's format, ${job.format}.`);
  return checkDocument(messages, "job", job);
}

/** Model, attachments and inputs of a job; `onProgress` as in download, `pieces` as of runJob. */
async function fetchParts(url, job, onProgress, signal, pieces) {
  const options = (name) => {
    return { onProgress: (now) => onProgress({ name, ...now }), signal, pieces, cache: "no-store" };
  };
  const model = await fetchModel(`${url}/model`, job.model, {
    ...options(job.model.name),
    keep: pieces || (await inUse()),
  });
  const attachments = [];
  for (const [index, { name, bytes: total }] of job.attachments.entries()) {
    const part = { what: name, total, ...options(name) };
    attachments.push({ name, bytes: await download(`${url}/attachments/${index}`, part) });
  }
  const inputs = await download(`${url}/inputs`, { what: "the inputs", ...options("the inputs") });
  return { model: model.bytes, from: model.from, attachments, inputs };
}

const jobUrl = (id) => new URL(`../../api/jobs/${encodeURIComponent(id)}`, import.meta.url).href;

/** The job that this page runs after the one at `url`, whose result was answered so; null: none. */
async function nextJob(url, answer) {
  while (!answer.next && !answer.stop) {
    // The PC may be gone by now.
    const response = await fetch(`${url}/next`, { cache: "no-store" }).catch(() => null);
    if (!response?.ok) return null;
    answer = await response.json();
  }
  return answer.next ?? null;
}

/**
 * Runs job `id`; resolves to the run's result with `job` (for a batch, a bench or shaders: to `job` alone),
 * and with `next`, the ID of the job that this page runs then, or null.
 * `show` = {job(job), change(state), sending?()} receives progress; the result waits for what sending()
 * returns. Any error is reported to the PC as well, and thrown. `pieces`: on a network that may break, what is
 * large is fetched piece by piece, what is sent is sent again where no answer came, and the model is kept.
 */
export async function runJob(id, here, { pieces = false, ...show }) {
  const url = jobUrl(id);
  const abort = new AbortController();
  const pulse = new Pulse();
  const heartbeat = new Heartbeat(`${url}/progress`, abort, pulse, pieces ? 60 : 5);
  const change = (state) => {
    show.change(state);
    return heartbeat.set(state);
  };
  const runThere = async (task, onChange) => {
    await change({ phase: "compile" });
    return runInWorker(task, { onChange, signal: abort.signal, pulse });
  };
  const send = async (bytes) => {
    await change({ phase: "send" });
    await show.sending?.();
    await heartbeat.end();
    const post = async () => {
      const response = await fetch(`${url}/result`, { method: "POST", body: bytes });
      // Sent again, after it had come and only its answer was lost.
      if (pieces && response.status === 409) return { stop: true };
      if (!response.ok) throw new RunError("io", `The PC rejected the result: HTTP ${response.status}.`);
      return response.json();
    };
    return nextJob(url, await (pieces ? insist(post) : post()));
  };
  try {
    const messages = await loadMessages(engineFolder);
    const job = await fetchJob(messages, url, pieces);

    show.job(job);
    const variant = pickVariant(here, job.options.wasm);
    if (!variant.name) throw new RunError("missing", `The engine cannot run: ${variant.why}.`);
    await change({ phase: "load" });
    const fetching = { signal: abort.signal, cache: "no-store" };
    const threads = threadsFor(variant, here, Number(job.options.threads ?? 0));
    const environmentHere = { ...environment(here, variant), ...job.environment };
    if (job.batch !== undefined) {
      const packed = await download(`${url}/inputs`, { what: "the cases", ...fetching });
      const start = { target: job.target, repeat: 1, capture: "outputs", environment: environmentHere };
      const task = { variant: variant.name, threads, memory: job.memory, batch: packed, start };
      const result = await runThere(task, change);
      return { job, variant, next: await send(result.answers) };
    }
    const onProgress = (now) => {
      show.change({ phase: "fetch", ...now });
      heartbeat.set({ phase: "load", done: now.received, total: now.total });
    };
    const { from, ...parts } = await fetchParts(url, job, onProgress, abort.signal, pieces);
    if (job.bench) {
      const start = { target: job.target, capture: job.capture, environment: environmentHere };
      const task = { variant: variant.name, threads, memory: job.memory, start, bench: url, ...parts };
      // Nothing but the worker may run while it measures: it sends the heartbeats itself.
      const result = await runThere(task, (state) =>
        change(state).then(() => state.phase === "run" && heartbeat.stop()),
      );
      return { ...result, job, variant };
    }
    if (job.programs_of !== undefined) {
      const start = { target: job.target, capture: job.capture, environment: environmentHere };
      const of = { start, programsOf: job.programs_of };
      const result = await runThere(
        { variant: variant.name, threads, memory: job.memory, ...of, ...parts },
        change,
      );
      return { job, variant, next: await send(result.answers) };
    }
    const plan = messages.objects.run_plan.fields.map(({ name }) => [name, job[name]]);
    const start = {
      ...Object.fromEntries(plan),
      target: job.target,
      stream: job.stream,
      environment: environmentHere,
    };
    const task = {
      variant: variant.name,
      threads,
      memory: job.memory,
      start,
      valuesUrl: `${url}/values`,
      insist: pieces,
      ...parts,
    };
    const result = await runThere(task, change);
    return { ...result, job, variant, from, next: await send(result.trace) };
  } catch (error) {
    const kind = error.kind ?? "internal";
    await postJson(`${url}/error`, { kind, message: bounded(error.message) }).catch(() => {});
    throw error;
  } finally {
    heartbeat.stop();
  }
}
