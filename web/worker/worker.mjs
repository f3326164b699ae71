// Runs one model in a worker of its own, slice by slice, and reports progress to the page.
// One worker per run: terminating it stops the run and frees everything.
import { runBatch } from "./batch.mjs";
import { runBench } from "./bench.mjs";
import { checkEvent } from "./client.mjs";
import { coordinate } from "./coordinator.mjs";
import { loadMessages, openEngine, runToEnd } from "./engine.mjs";
import { programsOf } from "./programs.mjs";
import { answer } from "./pulse.mjs";
import { isOutOfMemory, outOfMemoryText } from "../shared/memory.mjs";
import { pause } from "../shared/pause.mjs";
import { ValuesToPage, ValuesToPc } from "./values.mjs";

// Long enough to waste little on messages, short enough for a moving progress bar.
const sliceMs = 50;
// While times are measured the page is told less often, and has drawn it before the next run: both need the
// processors.
const quietMs = 500;
const settleMs = 20;

let engine; // of the run
let messages; // the schema's tables

/** An event of the schema. */
function say(type, more = {}, transfer = []) {
  if (messages && type !== "error") checkEvent(messages, type, more);
  self.postMessage({ type, ...more }, transfer);
}

function joined(model, attachments) {
  if (attachments.length === 0) return model;
  const total = attachments.reduce((sum, file) => sum + file.bytes.length, model.length);
  const all = new Uint8Array(total);
  let at = 0;
  for (const bytes of [model, ...attachments.map((file) => file.bytes)]) {
    all.set(bytes, at);
    at += bytes.length;
  }
  return all;
}

const isEngineFile = ({ pathname }, engines) =>
  /\/engine\/[^/]+$/.test(pathname) ||
  engines.some(({ browser_files }) => browser_files.some((file) => pathname.endsWith(`/${file}`)));

/** The engines' files: compressed and unpacked sizes, and whether the browser certainly had them cached. */
const downloads = (engines) =>
  performance
    .getEntriesByType("resource")
    .filter(({ name }) => isEngineFile(new URL(name), engines))
    .map(({ name, encodedBodySize, decodedBodySize, transferSize }) => ({
      name: name.slice(name.lastIndexOf("/") + 1),
      compressed: encodedBodySize,
      size: decodedBodySize,
      // Nothing was transferred, or a 304, for which WebKit reports no sizes; Firefox reports the usual ones.
      cached: transferSize < encodedBodySize || decodedBodySize === 0,
    }));

/**
 * Runs to the end; values in the responses go to `sink`, and `prepared` is called once the
 * engine is ready. Resolves to the shapes of the values, by name.
 */
async function runWith(sink, prepared) {
  const shapes = {};
  let ready = false;
  let timing = false;
  let saidAt = 0;
  await runToEnd(engine, sliceMs, async (head, payload) => {
    if (!timing && head.timing) {
      timing = true;
      say("phase", { phase: "time" });
    }
    if (!ready && !head.preparing) {
      ready = true;
      prepared();
    }
    const { values, ...progress } = head;
    if (!head.timing || head.finished || performance.now() - saidAt > quietMs) {
      say("progress", progress);
      if (head.timing && !head.finished) await pause(settleMs);
      saidAt = performance.now();
    }
    if (head.finished || !values) return;
    for (const { name, shape } of values) shapes[name] = shape;
    await sink.send(values, payload);
  });
  await sink.end();
  return shapes;
}

async function run({
  base,
  variant,
  threads,
  devices,
  memory,
  model,
  attachments,
  start,
  inputs,
  valuesUrl,
  insist,
}) {
  const times = {};
  let begin = performance.now();
  const lap = (name) => {
    times[name] = performance.now() - begin;
    begin = performance.now();
  };
  say("phase", { phase: "compile" });
  engine = await openEngine({ base, variant, threads, devices, memory });
  lap("compile_ms");
  const table = attachments.map((file) => ({ name: file.name, bytes: file.bytes.length }));
  const load = { target: start.target, attachments: table, once: true };
  const loaded = engine.request("load", load, joined(model, attachments));
  lap("load_ms");
  const bytes = model.length + table.reduce((sum, file) => sum + file.bytes, 0);
  const build = engine.request("capabilities").head;
  say("loaded", { model: { ...loaded.head, bytes }, build });
  engine.request("start", start, inputs);
  await engine.prepared();
  const sink = valuesUrl ? new ValuesToPc(valuesUrl, insist) : new ValuesToPage(say);
  const shapes = await runWith(sink, () => {
    lap("prepare_ms");
    say("phase", { phase: "run" });
  });
  lap("run_ms");
  const done = engine.request("finish");
  // The engine no longer has values that were sent.
  for (const layer of done.head.layers) layer.shape ??= shapes[layer.output] ?? null;
  const result = { reply: done.head, trace: done.payload, times, downloads: downloads(build.engines) };
  say("done", result, [done.payload.buffer]);
}

async function runMany({ base, variant, threads, devices, memory, batch, start }) {
  say("phase", { phase: "run" });
  const onProgress = (progress) => say("progress", progress);
  const answers = await runBatch({ base, variant, threads, devices, memory }, batch, start, onProgress);
  say("done", { answers }, [answers.buffer]);
}

/** `task` with its model and attachments as "load" takes them. */
function whole(task) {
  const { model, attachments } = task;
  const table = attachments.map((file) => ({ name: file.name, bytes: file.bytes.length }));
  return { ...task, table, model: joined(model, attachments) };
}

async function stay(task) {
  say("done", await runBench(whole(task), (phase) => say("phase", { phase })));
}

async function describe(task) {
  const answers = await programsOf(whole(task));
  say("done", { answers }, [answers.buffer]);
}

/** Asks the page, and resolves to its response. */
const ask = (question) =>
  new Promise((resolve) => {
    self.onmessage = ({ data }) => resolve(data);
    say("ask", question);
  });

async function compare(task) {
  say("phase", { phase: "compile" });
  const { base, variant, threads, devices, memory, model, attachments } = task;
  engine = await openEngine({ base, variant, threads, devices, memory });
  const table = attachments.map((file) => ({ name: file.name, bytes: file.bytes.length }));
  engine.request("load", { attachments: table }, joined(model, attachments));
  await coordinate(engine, { threads, ...task.compare }, { ask, report: (result) => say("result", result) });
  say("done");
}

self.onmessage = async ({ data }) => {
  answer(data.alive);
  try {
    messages = await loadMessages(data.base);
    if (data.bench) await stay(data);
    else if (data.batch) await runMany(data);
    else if (data.compare) await compare(data);
    else if (data.programsOf !== undefined) await describe(data);
    else await run(data);
  } catch (error) {
    const message = error?.message ?? String(error);
    const [heap, limit] = [engine?.heapBytes() ?? 0, engine?.heapLimit() ?? 0];
    const full = heap > 0.9 * limit;
    if (isOutOfMemory({ kind: error?.kind, name: error?.name, message, full }))
      say("error", { kind: "limit", message: outOfMemoryText(message, heap, limit) });
    else say("error", { kind: error?.kind ?? "internal", message, stuck: error?.stuck ?? false });
  }
};
