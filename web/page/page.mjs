// The page: chooses what to run, runs it, shows the result. Everything that computes is elsewhere
// (runner.mjs, samples.mjs, job.mjs); everything that draws is in view.mjs.
import { detect, environment, pickVariant, threadsFor } from "./capabilities.mjs";
import { Device } from "./device.mjs";
import { joinByButton } from "./joining.mjs";
import { runJob } from "./job.mjs";
import { chooseFiles, chooseShipped, fetchJson, root } from "./choice.mjs";
import * as history from "./history.mjs";
import { host, showHosting } from "./hosting.mjs";
import { listenToClear, showKept } from "./kept.mjs";
import { listenToFiles, readAll, resultFiles, whatOpens } from "./opening.mjs";
import { memoryBudget } from "../shared/memory.mjs";
import { runInWorker } from "../worker/runner.mjs";
import { RunError } from "../shared/errors.mjs";
import { picture } from "./samples.mjs";
import { startScreens } from "./screens.mjs";
import * as view from "./view.mjs";

const { $ } = view;
const state = {
  here: null,
  variant: null,
  engines: [], // of this build, see cmake/list_engines.mjs
  models: [], // the shipped ones: {name, bytes, sha256}
  chosen: null, // see choice.mjs; null until it is fetched
  own: null, // the visitor's own model, to return to
  doing: null, // "fetch" or "run"
  abort: null, // for the current action
  traceUrl: null,
  pcTargets: [], // what the serving PC runs
  screens: null, // see screens.mjs; null without WebGL2
  showScreens: () => {}, // or the plain page
  acceptsTraces: false,
};

/* What to run */

function choose(chosen) {
  state.chosen = chosen;
  view.hideResults();
  view.showError(null);
  view.showStatus("Press Run.");
  $("sample-field").hidden = !chosen.samples;
  $("whole-set").hidden = !chosen.samples;
  $("seed-note").hidden = Boolean(chosen.samples);
  if (!chosen.samples) return;
  $("sample").max = chosen.samples.count - 1;
  $("sample-range").textContent = `0 to ${chosen.samples.count - 1}, ${chosen.samples.title}`;
  showSample();
}

/** A model of the visitor's own becomes the last entry of the list. */
function chooseOwn(chosen) {
  const option = new Option(`${chosen.name}.onnx (${view.bytesText(chosen.bytes.length)})`, "");
  $("model").querySelector('option[value=""]')?.remove();
  $("model").append(option);
  option.selected = true;
  choose((state.own = chosen));
}

async function fetchChosen(signal) {
  const entry = state.models.find(({ name }) => name === $("model").value);
  const onProgress = (now) => view.showProgress({ phase: "fetch", name: entry.name, ...now });
  view.showStatus(`Fetching ${entry.name}…`);
  choose(await chooseShipped(entry, { onProgress, signal }));
  await showKept();
}

/** Chooses an entry of the list; a choice still being fetched is abandoned. */
function select() {
  state.abort?.abort();
  if (!$("model").value) return choose(state.own);
  state.chosen = null;
  view.hideResults();
  $("sample-field").hidden = $("whole-set").hidden = $("seed-note").hidden = true;
  return attempt("fetch", fetchChosen);
}

/** `given`: [{path, file}], see opening.mjs. */
async function takeFiles(given) {
  state.abort?.abort();
  try {
    const files = given.map(({ file }) => file);
    const named = (ending) => files.filter(({ name }) => ending.test(name));
    const traces = named(/\.safetensors$/i);
    const [kept] = named(/\.drift$/i);
    const { marked, loose } = resultFiles(given);
    const isRun = marked.length === 0; // a folder of results may have models and traces in it
    const { screens } = state;
    if (isRun && traces.length > 0 && screens) await screens.takeTraces(traces);
    else if (isRun && kept && screens) await screens.takeKept(kept);
    else if (isRun && named(/\.onnx$/i).length > 0) {
      chooseOwn(await chooseFiles(files));
      return await screens?.takeChoice(state.own);
    } else {
      const results = [...marked, ...loose];
      if (results.length === 0) throw new Error(`Nothing here can be opened. ${whatOpens}`);
      if (!screens)
        throw new Error("This is shown by the screens, which need WebGL2: this browser has none.");
      screens.takeResults(await readAll(results));
    }
    state.showScreens(true);
  } catch (error) {
    refuse(error);
  }
}

function refuse(error) {
  view.showStatus("This cannot be used.");
  view.showError(error.message);
  state.screens?.showError(error.message);
}

const sampleIndex = () => state.chosen.nearest(Number($("sample").value));

function showSample() {
  const index = sampleIndex();
  const label = state.chosen.labelOf(index);
  view.drawPicture($("picture"), picture(state.chosen.samples, index), `sample ${index}, ${label}`);
  $("sample-label").textContent = `labelled ${label}`;
}

function step(by) {
  $("sample").value = sampleIndex() + by;
  $("sample").value = sampleIndex();
  showSample();
}

/* Running */

/** Bytes that tensors may take; 0: as many as this browser usually allows. */
const askedMemory = () => Number($("memory").value);

function taskOf(request, inputs) {
  const asked = Number($("threads").value);
  const engine = $("engine").value;
  const options = asked > 0 ? `:threads=${asked}` : "";
  return {
    variant: state.variant.name,
    threads: threadsFor(state.variant, state.here, asked),
    memory: askedMemory(),
    model: state.chosen.bytes,
    attachments: state.chosen.attachments,
    inputs,
    start: {
      target: `${state.here.host}/${engine}${options}`,
      environment: environment(state.here, state.variant),
      ...request,
    },
  };
}

/** `doing`: "fetch", during which another model can be chosen, "run", or null. */
function setDoing(doing) {
  state.doing = doing;
  for (const control of $("run-form").elements) control.disabled = doing === "run";
  $("stop").disabled = !doing;
  $("start").disabled = $("whole-set").disabled = Boolean(doing) || !state.variant.name;
}

const failed = { fetch: "It could not be fetched; Run tries again.", run: "It did not run." };

/** Runs an action that can be stopped; a later action takes over the page. */
async function attempt(doing, work) {
  const abort = (state.abort = new AbortController());
  const current = () => state.abort === abort;
  setDoing(doing);
  view.showError(null);
  try {
    await work(abort.signal);
  } catch (error) {
    if (!current()) return;
    const stopped = error.kind === "cancelled";
    view.showStopped(stopped ? "Stopped." : failed[doing], stopped ? null : error.message);
  } finally {
    if (current()) setDoing(null);
  }
}

async function keptChanged() {
  await showKept();
  state.screens?.showHistory();
}

async function runOnce(signal) {
  if (!state.chosen) await fetchChosen(signal);
  const { samples } = state.chosen;
  const index = samples ? sampleIndex() : undefined;
  const inputs = samples ? state.chosen.inputs([index], [1]) : new Uint8Array(0);
  const repeat = Math.min(10000, Math.max(1, Math.trunc(Number($("repeat").value)) || 1));
  const request = { repeat, capture: "all", stream: true, seed: samples ? undefined : 42 };
  const task = taskOf(request, inputs);
  const result = await runInWorker(task, { onChange: view.showProgress, signal });
  showResult(result, index);
  history.addRun(state.chosen.name, task, result);
  await keptChanged();
  await offerTrace(result, state.chosen.name);
}

function showResult(result, index) {
  const { labels } = state.chosen.description ?? {};
  const truth = index === undefined ? undefined : state.chosen.samples.label(index);
  if (index !== undefined)
    view.drawPicture($("output-picture"), picture(state.chosen.samples, index), `sample ${index}`);
  else $("output-picture").hidden = true;
  showCommon({ ...result, from: state.chosen.from }, state.variant, labels, truth);
  $("progress").value = 1;
  const { length } = result.reply.layers;
  view.showStatus(`Done: ${length} layer${length === 1 ? "" : "s"} in ${result.times.run_ms.toFixed(1)} ms.`);
}

function showCommon(result, variant, labels, truth) {
  const [output] = result.reply.outputs;
  if (output?.values?.length > 0) view.showOutput(output, { labels, truth });
  else view.showNoOutput("The output contains no numbers to show.");
  view.showLayers(result.reply);
  view.showRan(result, variant);
}

async function runWholeSet(signal) {
  const { chosen } = state;
  const set = chosen.wholeSet();
  const result = await runInWorker(taskOf(set.start, set.inputs), { onChange: view.showProgress, signal });
  const { predictions } = result.reply;
  if (!predictions)
    throw new RunError("unsupported", "The first output is not one row of scores per sample.");
  const right = chosen.countRight(predictions);
  const { count } = chosen.samples;
  $("output-picture").hidden = true;
  const percent = ((100 * right) / count).toFixed(1);
  view.showNoOutput(`${right} of ${count} samples classified as labelled: ${percent} %.`);
  view.showLayers(result.reply);
  view.showRan({ ...result, from: state.chosen.from }, state.variant);
  view.showStatus(`Done: ${count} samples in ${(result.times.run_ms / 1000).toFixed(2)} s.`);
  await offerTrace(result, `${state.chosen.name}-set`);
}

/** The trace as a download, and sent to the PC if one is waiting. */
async function offerTrace(result, name) {
  if (state.traceUrl) URL.revokeObjectURL(state.traceUrl);
  state.traceUrl = URL.createObjectURL(result.file);
  $("download").href = state.traceUrl;
  const { run } = result.reply;
  $("download").download = `${name}-${run.host}-${run.engine}.safetensors`;
  $("sent").textContent = "";
  if (!state.acceptsTraces) return;
  const response = await fetch(new URL("api/traces", root), { method: "POST", body: result.file });
  const answer = await response.json().catch(() => ({ error: `HTTP ${response.status}` }));
  $("sent").textContent = answer.saved ? `Sent to the PC: ${answer.saved}` : `Not sent: ${answer.error}`;
}

/* Start */

async function runForPc(id) {
  document.body.classList.add("job");
  for (let next = id; next;) next = await runOneForPc(next);
}

/** Resolves to the job that follows. */
async function runOneForPc(id) {
  view.hideResults();
  view.showError(null);
  try {
    const result = await runJob(id, state.here, {
      job: view.showJob,
      change: view.showProgress,
    });
    if (result.job.batch !== undefined) {
      view.showStatus(`Done: ${result.job.batch} cases, the answers are with the PC.`);
      return result.next;
    }
    if (result.job.programs_of !== undefined) {
      view.showStatus("Done: the shaders are with the PC.");
      return result.next;
    }
    if (result.job.bench) {
      view.showStatus("Done: the times are with the PC.");
      return null;
    }
    showCommon(result, result.variant);
    // The captured values are with the PC; here are the outputs.
    await offerTrace(result, result.job.model.name.replace(/\.onnx$/i, ""));
    view.showStatus("Done: the trace is with the PC.");
    return result.next;
  } catch (error) {
    view.showStatus("It did not run; the PC has been informed.");
    view.showError(error.message);
    return null;
  }
}

/** Until it leaves the hub. */
async function runAsDevice(name) {
  document.body.classList.add("job");
  const device = new Device(state.here, name, {
    job: (job) => {
      view.hideResults();
      view.showError(null);
      view.showJob(job);
    },
    change: view.showProgress,
    result: (result) => {
      if (result.reply) showCommon(result, result.variant);
      view.showStatus("Done: the PC has the result.");
    },
    error: (error) => {
      view.showStatus("It did not run; the PC has been informed.");
      view.showError(error.message);
    },
  });
  view.showStatus("The PC has run nothing here yet.");
  await device.run(state.variant);
}

function listen() {
  $("run-form").addEventListener("submit", (event) => {
    event.preventDefault();
    attempt("run", runOnce);
  });
  $("whole-set").addEventListener("click", () => attempt("run", runWholeSet));
  $("stop").addEventListener("click", () => state.abort?.abort());
  $("previous").addEventListener("click", () => step(-1));
  $("next").addEventListener("click", () => step(1));
  $("sample").addEventListener("input", showSample);
  listenToClear(() => state.screens?.showHistory());
  $("model").addEventListener("change", select);
  listenToFiles({ take: takeFiles, refused: refuse, ready: () => state.doing !== "run" });
}

function fillThreads() {
  const maxThreads = state.variant.threads ? state.here.cores : 1;
  const counts = [1, 2, 4, 8, 16, 32].filter((count) => count < maxThreads);
  $("threads").replaceChildren(
    ...(maxThreads > 1 ? [new Option(`all (${maxThreads})`, "0")] : []),
    ...[...counts, maxThreads].map((count) => new Option(String(count), String(count))),
  );
}

function fillMemory() {
  const gibs = (bytes) => `${Number((bytes / 2 ** 30).toFixed(2))} GiB`;
  const sizes = [0.25, 0.5, 1, 2, 3].map((size) => size * 2 ** 30);
  $("memory").replaceChildren(
    new Option(`as usual (${gibs(memoryBudget())})`, "0"),
    ...sizes.map((bytes) => new Option(gibs(bytes), String(bytes))),
  );
}

function fillEngines() {
  $("engine").replaceChildren(
    ...state.engines.map(({ name, summary }) => new Option(`${name}: ${summary}`, name)),
  );
}

/** The GUI, if there is WebGL2: the rest of the page works without. */
async function openScreens() {
  if (!state.here.webgl2 || !state.variant.name) return;
  const card = $("screens-card");
  try {
    card.hidden = false;
    const page = { ...state, choose: chooseShipped, askedMemory, table: $("screens-table"), keptChanged };
    state.screens = await startScreens($("screens"), page);
  } catch (error) {
    console.info(`Without the GUI: ${error.message}`); // the site was built without it
  }
  card.hidden = !state.screens;
  if (!state.screens) return;
  const toggle = $("screens-size");
  state.showScreens = (shown) => {
    document.body.classList.toggle("with-screens", shown);
    toggle.textContent = shown ? "Plain page" : "Screens";
    toggle.href = shown ? "#plain" : "#";
  };
  toggle.hidden = false;
  toggle.addEventListener("click", (event) => {
    event.preventDefault();
    const shown = !document.body.classList.contains("with-screens");
    window.history.replaceState(window.history.state, "", shown ? "#" : "#plain");
    state.showScreens(shown);
  });
  // Links: #model=lenet5&targets=strict,fast&checks=repeat,capturing,memory&view=Drift&layer=conv1, #plain
  const link = new URLSearchParams(location.hash.slice(1));
  state.showScreens(!link.has("plain"));
  const list = (name) => link.get(name)?.split(",").filter(Boolean) ?? [];
  const targets = list("targets");
  if (targets.length > 0)
    await state.screens.runLink({ model: link.get("model") ?? "lenet5", targets, checks: list("checks") });
  if (link.has("layer")) state.screens.gui.layer(link.get("layer"));
  if (link.has("view")) state.screens.gui.view(link.get("view"));
}

async function start() {
  // On a static host the page may first have to be reloaded.
  const hosted = await host();
  state.here = await detect();
  const query = new URLSearchParams(location.search);
  state.variant = pickVariant(state.here, query.get("wasm") ?? "");
  view.showCapabilities(state.here, state.variant);
  const job = query.get("job");
  if (job) return runForPc(job);
  const { device, link_of: pc } = hosted.session;
  if (device !== undefined) return runAsDevice(device);
  if (pc !== undefined) return runAsDevice(await joinByButton(state.here, pc));
  showHosting(hosted);
  state.acceptsTraces = hosted.session.accepts_traces === true;
  state.pcTargets = hosted.session.pc_targets ?? [];
  fillThreads();
  fillMemory();
  listen();
  state.engines = await fetchJson("web/engines.json");
  fillEngines();
  state.models = await fetchJson("assets/models.json");
  if (state.variant.name) await history.learnBuild(state.variant.name);
  const names = state.models.map(({ name }) => name);
  $("model").replaceChildren(...names.map((name) => new Option(name, name)));
  if (names.length === 0) return setDoing(null);
  $("model").value = names.includes("lenet5") ? "lenet5" : names[0];
  await showKept();
  await select();
  await openScreens();
}

start().catch((error) => view.showError(`The page could not start: ${error.message}`));
