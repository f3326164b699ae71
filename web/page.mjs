// The page: chooses what to run, runs it, shows what came. Everything that computes is elsewhere
// (runner.mjs, samples.mjs, job.mjs); everything that draws is in view.mjs.
import { detect, environment, pickVariant, threadsFor } from "./capabilities.mjs";
import { runJob } from "./job.mjs";
import { runInWorker, RunError } from "./runner.mjs";
import { writeSafetensors } from "./safetensors.mjs";
import { loadSet, picture, preprocess, setFor } from "./samples.mjs";
import * as view from "./view.mjs";

const { $ } = view;
const root = new URL("../", import.meta.url);
const state = {
  here: null,
  variant: null,
  chosen: null, // {name, bytes, attachments, preprocess, samples}
  abort: null,
  traceUrl: null,
  acceptsTraces: false,
};

async function fetchOk(path) {
  const response = await fetch(new URL(path, root));
  if (!response.ok) throw new RunError("io", `${path}: HTTP ${response.status}`);
  return response;
}
const fetchBytes = async (path) => new Uint8Array(await (await fetchOk(path)).arrayBuffer());
const fetchJson = async (path) => (await fetchOk(path)).json();

/* What to run */

async function chooseShipped(name) {
  const description = await fetchJson(`assets/models/${name}.preprocess.json`).catch(() => null);
  const set = setFor(description);
  const samples = set && (await loadSet(set, (file) => fetchBytes(`assets/${file}`)));
  const bytes = await fetchBytes(`assets/models/${name}.onnx`);
  choose({ name, bytes, attachments: [], preprocess: description, samples });
}

/** One .onnx and, beside it, the files of external data that it names. */
async function chooseFiles(files) {
  const models = files.filter((file) => /\.onnx$/i.test(file.name));
  if (models.length !== 1)
    throw new RunError("bad_input", "Choose one .onnx file (and the data files that belong to it).");
  const read = async (file) => ({ name: file.name, bytes: new Uint8Array(await file.arrayBuffer()) });
  const model = await read(models[0]);
  const attachments = await Promise.all(files.filter((file) => file !== models[0]).map(read));
  const name = model.name.replace(/\.onnx$/i, "");
  const option = new Option(`${model.name} (${view.bytesText(model.bytes.length)})`, "");
  $("model").querySelector('option[value=""]')?.remove();
  $("model").append(option);
  option.selected = true;
  choose({ name, bytes: model.bytes, attachments, preprocess: null, samples: null });
}

function choose(chosen) {
  state.chosen = chosen;
  view.hideResults();
  view.showError(null);
  view.showStatus("Ready.");
  $("sample-field").hidden = !chosen.samples;
  $("whole-set").hidden = !chosen.samples;
  $("seed-note").hidden = Boolean(chosen.samples);
  if (!chosen.samples) return;
  $("sample").max = chosen.samples.count - 1;
  $("sample-range").textContent = `0 to ${chosen.samples.count - 1}, ${chosen.samples.title}`;
  showSample();
}

const sampleIndex = () => {
  const last = state.chosen.samples.count - 1;
  return Math.min(last, Math.max(0, Math.trunc(Number($("sample").value)) || 0));
};

function labelOf(index) {
  const label = state.chosen.samples.label(index);
  return state.chosen.preprocess.labels?.[label] ?? String(label);
}

function showSample() {
  const index = sampleIndex();
  const text = `sample ${index}, labelled ${labelOf(index)}`;
  view.drawPicture($("picture"), picture(state.chosen.samples, index), text);
  $("sample-label").textContent = `labelled ${labelOf(index)}`;
}

function step(by) {
  $("sample").value = sampleIndex() + by;
  $("sample").value = sampleIndex();
  showSample();
}

/** Samples `indices`, one after the other along `leading` axes. */
function inputsOf(indices, leading) {
  const { preprocess: description, samples } = state.chosen;
  const parts = indices.map((index) => preprocess(samples.pixels(index), description));
  const values = new Float32Array(parts.length * parts[0].length);
  parts.forEach((part, i) => values.set(part, i * part.length));
  const shape = [...leading, description.channels, description.height, description.width];
  return writeSafetensors([{ name: description.input, shape, values }]);
}

/* Running */

function taskOf(start, inputs) {
  const asked = Number($("threads").value);
  const engine = $("engine").value;
  const options = asked > 0 ? `:threads=${asked}` : "";
  return {
    variant: state.variant.name,
    threads: threadsFor(state.variant, state.here, asked),
    model: state.chosen.bytes,
    attachments: state.chosen.attachments,
    inputs,
    start: {
      target: `${state.here.host}/${engine}${options}`,
      environment: environment(state.here, state.variant),
      ...start,
    },
  };
}

function setRunning(running) {
  for (const control of $("run-form").elements) control.disabled = running;
  $("stop").disabled = !running;
  $("start").disabled = running || !state.variant.name;
}

async function attempt(work) {
  state.abort = new AbortController();
  setRunning(true);
  view.showError(null);
  try {
    await work(state.abort.signal);
  } catch (error) {
    view.showStatus(error.kind === "cancelled" ? "Stopped." : "It did not run.");
    if (error.kind !== "cancelled") view.showError(error.message);
  } finally {
    setRunning(false);
  }
}

async function runOnce(signal) {
  const { samples } = state.chosen;
  const index = samples ? sampleIndex() : undefined;
  const inputs = samples ? inputsOf([index], [1]) : new Uint8Array(0);
  const repeat = Math.min(10000, Math.max(1, Math.trunc(Number($("repeat").value)) || 1));
  const start = { repeat, capture: "all", seed: samples ? undefined : 42 };
  const result = await runInWorker(taskOf(start, inputs), { onChange: view.showProgress, signal });
  showResult(result, index);
  await offerTrace(result, state.chosen.name);
}

function showResult(result, index) {
  const { labels } = state.chosen.preprocess ?? {};
  const truth = index === undefined ? undefined : state.chosen.samples.label(index);
  if (index !== undefined)
    view.drawPicture($("output-picture"), picture(state.chosen.samples, index), `sample ${index}`);
  else $("output-picture").hidden = true;
  showCommon(result, state.variant, labels, truth);
  $("progress").value = 1;
  view.showStatus(`Done: ${result.model.nodes} layers in ${result.times.run_ms.toFixed(1)} ms.`);
}

function showCommon(result, variant, labels, truth) {
  const [output] = result.reply.outputs;
  if (output?.values?.length > 0) view.showOutput(output, { labels, truth });
  else view.showNoOutput(output ? "The output holds no numbers to show." : "The model has no output.");
  view.showLayers(result.reply);
  view.showRan(result, variant);
}

async function runWholeSet(signal) {
  const { samples } = state.chosen;
  const indices = Array.from({ length: samples.count }, (_, i) => i);
  const inputs = inputsOf(indices, [samples.count, 1]);
  const start = { repeat: 1, capture: "outputs", samples: samples.count };
  const result = await runInWorker(taskOf(start, inputs), { onChange: view.showProgress, signal });
  const { right, count } = accuracy(result.trace, result.reply.outputs[0], samples);
  $("output-picture").hidden = true;
  const percent = ((100 * right) / count).toFixed(1);
  view.showNoOutput(`${right} of ${count} samples classified as labelled: ${percent} %.`);
  view.showLayers(result.reply);
  view.showRan(result, state.variant);
  view.showStatus(`Done: ${count} samples in ${(result.times.run_ms / 1000).toFixed(2)} s.`);
  await offerTrace(result, `${state.chosen.name}-set`);
}

/** Reads the stacked float32 output from the trace (a safetensors file). */
function accuracy(trace, output, samples) {
  const headSize = Number(new DataView(trace.buffer, trace.byteOffset).getBigUint64(0, true));
  const header = JSON.parse(new TextDecoder().decode(trace.subarray(8, 8 + headSize)));
  const [begin, end] = header[output.name].data_offsets.map((offset) => 8 + headSize + offset);
  const scores = new Float32Array(trace.slice(begin, end).buffer);
  const classes = scores.length / samples.count;
  let right = 0;
  for (let i = 0; i < samples.count; ++i) {
    const row = scores.subarray(i * classes, (i + 1) * classes);
    right += row.indexOf(Math.max(...row)) === samples.label(i) ? 1 : 0;
  }
  return { right, count: samples.count };
}

/** The trace as a download, and to the PC where one waits. */
async function offerTrace(result, name) {
  if (state.traceUrl) URL.revokeObjectURL(state.traceUrl);
  state.traceUrl = URL.createObjectURL(new Blob([result.trace], { type: "application/octet-stream" }));
  $("download").href = state.traceUrl;
  $("download").download = `${name}-${result.reply.run.host}-${result.reply.run.engine}.safetensors`;
  $("sent").textContent = "";
  if (!state.acceptsTraces) return;
  const response = await fetch(new URL("api/traces", root), { method: "POST", body: result.trace });
  const answer = await response.json().catch(() => ({ error: `HTTP ${response.status}` }));
  $("sent").textContent = answer.saved ? `Sent to the PC: ${answer.saved}` : `Not sent: ${answer.error}`;
}

/* Start */

async function runForPc(id) {
  document.body.classList.add("job");
  try {
    const result = await runJob(id, state.here, {
      job: (job) => ($("tagline").textContent = `Running ${job.model.name} as ${job.target} for the waiting PC.`),
      change: view.showProgress,
    });
    showCommon(result, result.variant);
    await offerTrace(result, result.job.model.name.replace(/\.onnx$/i, ""));
    view.showStatus("Done: the trace is with the PC.");
  } catch (error) {
    view.showStatus("It did not run; the PC was told.");
    view.showError(error.message);
  }
}

function listen() {
  $("run-form").addEventListener("submit", (event) => {
    event.preventDefault();
    attempt(runOnce);
  });
  $("whole-set").addEventListener("click", () => attempt(runWholeSet));
  $("stop").addEventListener("click", () => state.abort?.abort());
  $("previous").addEventListener("click", () => step(-1));
  $("next").addEventListener("click", () => step(1));
  $("sample").addEventListener("input", showSample);
  const report = (promise) =>
    promise.catch((error) => {
      view.showStatus("This cannot be used.");
      view.showError(error.message);
    });
  $("model").addEventListener("change", ({ target }) => report(chooseShipped(target.value)));
  $("file").addEventListener("change", ({ target }) => {
    if (target.files.length > 0) report(chooseFiles([...target.files]));
    target.value = "";
  });
  const drop = $("drop");
  for (const type of ["dragenter", "dragover"])
    document.addEventListener(type, (event) => {
      event.preventDefault();
      drop.classList.add("over");
    });
  for (const type of ["dragleave", "drop"])
    document.addEventListener(type, () => drop.classList.remove("over"));
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    if (!state.abort || $("stop").disabled) report(chooseFiles([...event.dataTransfer.files]));
  });
}

function fillThreads() {
  const most = state.variant.threads ? state.here.cores : 1;
  const counts = [1, 2, 4, 8, 16, 32].filter((count) => count < most);
  $("threads").replaceChildren(
    ...(most > 1 ? [new Option(`all (${most})`, "0")] : []),
    ...[...counts, most].map((count) => new Option(String(count), String(count))),
  );
}

async function start() {
  state.here = await detect();
  state.variant = pickVariant(state.here);
  view.showCapabilities(state.here, state.variant);
  const job = new URLSearchParams(location.search).get("job");
  if (job) return runForPc(job);
  const session = await fetchJson("api/session").catch(() => ({}));
  state.acceptsTraces = session.accepts_traces === true;
  fillThreads();
  listen();
  const models = await fetchJson("assets/models.json");
  $("model").replaceChildren(...models.map((name) => new Option(name, name)));
  const first = models.includes("lenet5") ? "lenet5" : models[0];
  $("model").value = first;
  if (first) await chooseShipped(first);
  setRunning(false);
}

start().catch((error) => view.showError(`The page could not start: ${error.message}`));
