// The page's side of a run: starts the worker, forwards its events, ends it.
// Clients: page.mjs, job.mjs.

import { serveDevices } from "../device/page_devices.mjs";
import { RunError } from "../shared/errors.mjs";
import { isOutOfMemory, memoryBudget, outOfMemoryText } from "../shared/memory.mjs";
import { assemble } from "../shared/safetensors.mjs";
import { Pulse } from "./pulse.mjs";

const engineFolder = new URL("../../engine/", import.meta.url).href;

/**
 * Runs `task` = {variant, threads, memory?, model, attachments, start, inputs}; resolves to {reply, trace,
 * file, times, model, build}: `memory` as memoryBudget takes it; `file` is a Blob of the whole trace. With
 * start.stream, `trace` holds only the outputs; the captured values are in the file, or with `valuesUrl` were
 * sent there. With `batch` (core/protocol/batch.hpp) instead of the model and the inputs it resolves to
 * {answers}, and with `programsOf` (programs.mjs) as well; with `compare` (coordinator.mjs) instead of inputs
 * it stays for a whole comparison; with `bench` (the job's URL) it stays
 * as long as the PC sends requests. `onChange({phase, done, total, sample, samples, prepared, to_prepare})`
 * receives progress, `onAsk(question)` resolves to {answer, transfer?} for a worker's question, `onResult`
 * receives results on the way, and `signal` stops it; `pulse` knows whether the worker answers. A worker that
 * is stuck before anything was computed is replaced once.
 */
export async function runInWorker(task, options = {}) {
  try {
    return await runOnce(task, options);
  } catch (error) {
    if (!error.stuck) throw error;
    return runOnce(task, options);
  }
}

const start = { phase: "compile", done: 0, total: 0, sample: 0, samples: 0, prepared: 0, to_prepare: 0 };

function runOnce(task, { onChange = () => {}, onAsk, onResult, signal, pulse = new Pulse() }) {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL("./worker.mjs", import.meta.url), { type: "module" });
    let state = start;
    let about = {};
    const values = []; // pieces, and their bytes as blobs: these need not stay in memory
    const blobs = [];
    const change = (more) => onChange((state = { ...state, ...more }));
    // For workers without WebGL; used only when their engine asks for it.
    const { port1, port2 } = new MessageChannel();
    const closeDevices = serveDevices(port1);
    const end = (settle, value) => {
      worker.terminate();
      pulse.end();
      port1.close();
      closeDevices();
      signal?.removeEventListener("abort", stop);
      settle(value);
    };
    const stop = () => end(reject, new RunError("cancelled", "Stopped."));
    if (signal?.aborted) return stop();
    signal?.addEventListener("abort", stop);
    worker.onmessage = ({ data }) => {
      pulse.answered();
      const { type, ...more } = data;
      if (type === "phase") change({ ...start, phase: more.phase });
      else if (type === "progress") change(more);
      else if (type === "loaded") about = more;
      else if (type === "result") onResult(more);
      else if (type === "ask")
        onAsk(more).then(
          ({ answer, transfer = [] }) => worker.postMessage(answer, transfer),
          (error) => end(reject, error),
        );
      else if (type === "values") {
        values.push(...more.values);
        blobs.push(new Blob([more.payload]));
      } else if (type === "done") {
        const file = more.trace && assemble(more.trace, values, blobs);
        end(resolve, { ...about, ...more, file });
      } else end(reject, new RunError(more.kind, more.message, more.stuck));
    };
    worker.onerror = (event) => {
      event.preventDefault();
      // A worker that the browser killed for its memory often reports only that it failed.
      const unknown = "the browser gave no reason; it may have run out of memory, or a file is missing";
      const message = `The worker failed: ${event.message || unknown}`;
      if (isOutOfMemory({ message: event.message ?? "" }))
        end(reject, new RunError("limit", outOfMemoryText(message)));
      else end(reject, new RunError("internal", message));
    };
    const memory = memoryBudget(task.memory);
    const alive = pulse.connect();
    const ports = { devices: port2, alive };
    worker.postMessage({ base: engineFolder, attachments: [], ...task, memory, ...ports }, [port2, alive]);
  });
}
