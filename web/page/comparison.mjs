// A comparison of this browser's engines, the serving PC's and its devices', hosted by the page: one worker
// stays and names the next run (the order is decided in core/compare), and each run has a worker of its own,
// or is carried out by the PC. Client: screens.mjs.
import { runInWorker } from "../worker/runner.mjs";
import { isOnPc, runOnPc } from "./pc_runs.mjs";
import { withTimesOf } from "../shared/safetensors.mjs";

const bytesOf = async (blob) => new Uint8Array(await blob.arrayBuffer());

/**
 * `plan` = {targets, samples?, labels?}; `task` is common to all workers: {variant, threads, memory?,
 * model, attachments}. `runOf(target, purpose)` adds what a run needs: {inputs, start}.
 *
 * Callbacks: `onStep(place, {step, done, total})`; `onRun(place, task, result)` for each run whose times
 * were measured, as in runner.mjs; `onResult({place, done, recorded, error?, comparison, topology, trace})`
 * once the target is judged, before the data set and when it is done, where `trace` has the recording's
 * bytes. Rejects when `signal` stops it, or when the worker that stays fails.
 */
export async function compareTargets(plan, task, runOf, { onStep, onRun, onResult, signal }) {
  const traces = [];
  const run = async ({ place, target, purpose }) => {
    const whole = { ...task, ...runOf(target, purpose) };
    const steps = progressOf(purpose, whole.start.samples);
    onStep(place, steps());
    const start = isOnPc(target) ? runOnPc : runInWorker;
    const result = await start(whole, {
      onChange: (change) => onStep(place, steps(change)),
      signal,
    });
    // The history is of this browser.
    if (purpose === "times" && !isOnPc(target)) await onRun(place, whole, result);
    const trace = await bytesOf(result.file);
    if (purpose === "layers") traces[place] = trace;
    if (purpose === "times") traces[place] = withTimesOf(traces[place], trace);
    onStep(place, { step: "judging", done: 0, total: 0 });
    return { answer: { trace }, transfer: purpose === "layers" ? [] : [trace.buffer] };
  };
  const onAsk = async (question) => {
    try {
      return await run(question);
    } catch (error) {
      if (error.kind === "cancelled") throw error;
      return { answer: { error: { kind: error.kind ?? "internal", message: error.message } } };
    }
  };
  const forward = (result) => onResult({ ...result, trace: traces[result.place] });
  onStep(0, { step: "starting", done: 0, total: 0 });
  await runInWorker({ ...task, compare: plan }, { onAsk, onResult: forward, signal });
}

/** The progress of a run, in words, from its worker's events; at first there are none. */
function progressOf(purpose, samples) {
  if (purpose === "dataset")
    return ({ sample = 0 } = {}) => ({
      step: `the whole set: ${samples} samples`,
      done: sample,
      total: samples,
    });
  return ({ phase, done = 0, total = 0, prepared = 0, to_prepare = 0, step } = {}) => {
    if (step) return { step, done, total };
    if (to_prepare > 0) return { step: "compiling shaders", done: prepared, total: to_prepare };
    if (!phase) return { step: "starting", done, total };
    if (phase === "time" && purpose === "memory") return { step: "watching memory", done, total };
    if (phase === "run" && purpose !== "times") return { step: "running", done, total };
    if (phase === "run" || phase === "time") return { step: "measuring its time", done, total };
    return { step: "preparing", done: 0, total: 0 };
  };
}
