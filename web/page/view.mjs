// Updates the page. Every function replaces earlier contents; none keeps state.
// Texts from models are set as text, never as markup. Client: page.mjs.
import { runTime } from "../shared/run_time.mjs";

export const $ = (id) => document.getElementById(id);

function element(tag, { className, text, title, children = [] } = {}) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  if (title) made.title = title;
  made.append(...children);
  return made;
}

const fact = (name, value, className = "") =>
  element("div", {
    children: [element("dt", { text: name }), element("dd", { text: value, className })],
  });

export const bytesText = (bytes) =>
  bytes >= 1e6 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e3).toFixed(1)} kB`;

function remainingText(ms) {
  const seconds = Math.ceil(ms / 1000);
  return seconds < 90 ? `${seconds} s left` : `${Math.ceil(seconds / 60)} min left`;
}

export function showCapabilities(here, variant) {
  const yes = (has) => [has ? "yes" : "no", has ? "yes" : "no"];
  $("browser-name").textContent = here.browser;
  $("browser-name").title = here.userAgent;
  $("facts").replaceChildren(
    fact("Isolated", ...yes(here.isolated)),
    fact("Threads", ...yes(here.threads)),
    fact("SIMD", ...yes(here.simd)),
    fact("Relaxed SIMD", ...yes(here.relaxedSimd)),
    fact("WebGL2", ...yes(here.webgl2)),
    fact("WebGPU", ...yes(here.webgpu)),
    fact("Cores", String(here.cores)),
    fact("Memory", here.memoryGb ? `${here.memoryGb} GB` : "not reported"),
  );
  $("variant").textContent = variant.name
    ? `Engine build: ${variant.name} (${variant.why}).`
    : `No engine can run here: ${variant.why}.`;
  $("variant").classList.toggle("error", !variant.name);
}

export function showJob({ model, target }) {
  $("tagline").textContent = `Running ${model.name} as ${target} for the waiting PC.`;
}

/** What this browser is as a device of a hub; `wrong`: the state is a failure; `left`: nothing follows. */
export function showDevice({ name, state, wrong = false, left = false }) {
  $("device-card").hidden = false;
  $("device-state").textContent = state;
  $("device-state").classList.toggle("error", wrong);
  const field = $("device-name");
  if (name && document.activeElement !== field) field.value = name;
  $("device-form").hidden = left;
  $("tagline").textContent = left
    ? "This browser is no device any more."
    : `remote:${name || "…"}, for the PC.`;
  document.title = name ? `${name} · Driftscope` : "Driftscope";
}

/** What the browser does not tell of a device, in words. */
export function showSeen(untold) {
  $("device-seen").textContent =
    untold.length > 0 ? `This browser does not say, and so the PC cannot know: ${untold.join(", ")}.` : "";
}

const phases = {
  load: "Loading the model…",
  compile: "Preparing the engine…",
  run: "Running…",
  time: "Measuring its time…",
  send: "Sending the trace to the PC…",
};

/** A download: progress, speed, remaining time. Without a known total the bar is indeterminate. */
function showFetch({ name, received, total, perSecond, remainingMs }) {
  if (total > 0) $("progress").value = received / total;
  else $("progress").removeAttribute("value");
  const amount = total > 0 ? `${bytesText(received)} of ${bytesText(total)}` : bytesText(received);
  const parts = [amount, `${bytesText(perSecond)}/s`];
  if (remainingMs !== null) parts.push(remainingText(remainingMs));
  $("status").textContent = `Fetching ${name}: ${parts.join(" · ")}`;
}

export function showProgress(progress) {
  const { phase, done, total, sample, samples, prepared, to_prepare: toPrepare } = progress;
  if (phase === "fetch") return showFetch(progress);
  if (toPrepare > 0) {
    $("progress").value = prepared / toPrepare;
    return showStatus(`Compiling shaders: ${prepared} of ${toPrepare}…`);
  }
  const share = samples > 0 ? sample / samples : total > 0 ? done / total : 0;
  $("progress").value = phase === "send" ? 1 : share;
  const percent = `${Math.floor(share * 100)} %`;
  const count = samples > 0 ? ` sample ${sample} of ${samples}` : total > 0 ? ` ${percent}` : "";
  $("status").textContent = (phases[phase] ?? "") + (phase === "run" ? count : "");
}

export function showStatus(text) {
  $("status").textContent = text;
}

export function showStopped(text, message) {
  $("progress").value = 0;
  showStatus(text);
  showError(message);
}

export function showError(message) {
  $("error").hidden = !message;
  $("error").textContent = message ?? "";
  if (message) $("progress").value = 0;
}

export function hideResults() {
  for (const card of ["output-card", "layers-card", "ran-card"]) $(card).hidden = true;
}

const sumsToOne = (values) =>
  values.every((value) => value >= 0) && Math.abs(values.reduce((a, b) => a + b, 0) - 1) < 1e-3;

function figure(value) {
  if (value === null) return "NaN or Inf"; // JSON has neither
  return Math.abs(value) >= 1e-3 || value === 0 ? value.toFixed(4) : value.toExponential(2);
}

/** Bars of an output vector; `labels` name its elements, `truth` is the right one when known. */
export function showOutput({ name, shape, dtype, values }, { labels, truth } = {}) {
  const maxShown = 12;
  const order = values.map((_, i) => i);
  const few = values.length <= maxShown;
  if (!few) order.sort((a, b) => values[b] - values[a]);
  const top = values.reduce((best, value, i) => (value > values[best] ? i : best), 0);
  const highest = Math.max(...values.map(Math.abs), 1e-30);
  const scale = sumsToOne(values) ? 1 : highest;
  $("bars").replaceChildren(
    ...order.slice(0, maxShown).map((i) => {
      const fill = element("span", { className: "fill" });
      fill.style.setProperty("--share", Math.max(0, Math.min(1, values[i] / scale)));
      const text = figure(values[i]) + (i === truth ? " ✓" : "");
      return element("li", {
        className: i === top ? "top" : "",
        children: [
          element("span", { text: labels?.[i] ?? `[${i}]` }),
          element("span", { className: "track", children: [fill] }),
          element("span", { className: "value", text, title: `${values[i]}` }),
        ],
      });
    }),
  );
  const whole = `${name}: ${dtype} ${shape.join("×") || "scalar"}`;
  const verdict =
    truth === undefined ? "" : `. It says ${labels?.[top] ?? top}; the sample is ${labels?.[truth] ?? truth}`;
  $("output-note").textContent =
    whole + (few ? "" : `, the ${maxShown} largest of ${values.length} shown`) + verdict;
  $("output-card").hidden = false;
}

export function showNoOutput(text) {
  $("bars").replaceChildren();
  $("output-note").textContent = text;
  $("output-card").hidden = false;
}

export function showLayers({ layers, run }) {
  const { ns: total } = runTime({ run, layers });
  const longest = Math.max(1, ...layers.map((layer) => layer.time_ns));
  const micro = (ns) => (ns > 0 ? (ns / 1000).toFixed(ns < 1e5 ? 1 : 0) : "–");
  $("layers").replaceChildren(
    ...layers.map((layer) => {
      const bar = element("i");
      bar.style.setProperty("--share", layer.time_ns / longest);
      return element("tr", {
        children: [
          element("td", { text: layer.node, title: `${layer.node} → ${layer.output}` }),
          element("td", { text: layer.op }),
          element("td", { text: layer.shape?.join("×") ?? "not kept" }),
          element("td", { className: "number", text: micro(layer.time_ns) }),
          element("td", { className: "share", children: [bar] }),
        ],
      });
    }),
  );
  const foot = [
    element("th", { text: `${layers.length} layers` }),
    element("td"),
    element("td"),
    element("td", { className: "number", text: micro(total) }),
    element("td"),
  ];
  $("total").replaceChildren(element("tr", { children: foot }));
  $("layers-note").textContent =
    run.repeat > 1 ? `Median of ${run.repeat - 1} repetitions, without the first.` : "";
  $("layers-card").hidden = false;
}

/** The download size of the engine's files, and whether they came from a cache. */
function engineText(downloads) {
  const sum = (key) => downloads.reduce((total, file) => total + file[key], 0);
  if (downloads.length === 0) return "not reported";
  if (downloads.every(({ cached }) => cached)) return "kept by this browser";
  return `${bytesText(sum("compressed"))} compressed, ${bytesText(sum("size"))} unpacked`;
}

export function showRan(result, variant) {
  const { run, memory } = result.reply;
  const peak = Math.max(0, ...memory.map((sample) => sample.bytes));
  const ms = (value) => `${value.toFixed(value < 10 ? 2 : 0)} ms`;
  $("ran").replaceChildren(
    fact("Engine", run.engine),
    fact("Instruction set", run.instruction_set),
    fact("Threads", `${run.threads_real} of ${run.threads_asked} requested`),
    fact("Build", variant.name),
    fact("Compile", ms(result.times.compile_ms)),
    fact("Load and prepare", ms(result.times.load_ms + result.times.prepare_ms)),
    fact("Run", ms(result.times.run_ms)),
    fact("Wasm memory", bytesText(peak)),
    fact("Model", `${result.model.model_sha256.slice(0, 12)}…`),
    fact("Model file", `${bytesText(result.model.bytes)}, ${result.from ?? "not reported"}`),
    fact("Engine files", engineText(result.downloads ?? [])),
    fact("Trace", bytesText(result.file.size)),
    ...result.model.notes.map((note) => fact("Note", note)),
  );
  $("ran-card").hidden = false;
}

export function drawPicture(canvas, image, label) {
  canvas.width = image.width;
  canvas.height = image.height;
  canvas.getContext("2d").putImageData(image, 0, 0);
  canvas.setAttribute("aria-label", label);
  canvas.hidden = false;
}
