// Carries out the GUI's requests: compares this browser's engines, the PC's and its devices'
// (comparison.mjs), shows results at once. Client: page.mjs.
import { environment, threadsFor } from "./capabilities.mjs";
import { compareTargets } from "./comparison.mjs";
import { showComparison } from "./comparison_table.mjs";
import { openScreens } from "../gui/gui.mjs";
import { addRun, allSeries } from "./history.mjs";
import { isOnDevice, offeredTargets } from "./pc_runs.mjs";

const demo = {
  model: "lenet5",
  sample: 121,
  takes: ({ kind, device }) => kind !== "peer" && device === "cpu", // runs in any browser, without a download
};
/** For the times of layers the model runs until they have settled, or for so long. */
const settleMs = 1000;
/** How long a target's own time is measured. */
const unwatchedMs = 1000;
/** So many runs are compared by the repeat check. */
const repeatCheckRuns = 10;
/** The same on a device, unasked: devices fail in later runs more often than others (device_checks.hpp). */
const deviceRepeats = 5;
/** Devices join and leave: so often the PC is asked while targets can be chosen. */
const devicesMs = 3000;
/** Over at most so many runs memory is watched, when it is. */
const memoryRuns = 200;

const pcByServing = {
  target: "pc/strict",
  available: false,
  detail: "install Driftscope and open the page with `driftscope serve --open`: it runs the PC's targets too",
  by_default: false,
};

const bytesOf = async (blob) => new Uint8Array(await blob.arrayBuffer());

function saveFile(name, bytes) {
  const url = URL.createObjectURL(new Blob([bytes]));
  Object.assign(document.createElement("a"), { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/**
 * `page` = {here, variant, engines, pcTargets, offersTargets, models: [{name}], choose(entry) → Choice,
 * askedMemory(), table, keptChanged()}: its state, the table with the same contents, a callback for a new run
 * in the history. Null where the browser has no WebGL2, or the site was built without the GUI.
 */
export async function startScreens(canvas, page) {
  const screens = new Screens(page, canvas);
  const gui = await openScreens(canvas, {
    dark: matchMedia("(prefers-color-scheme: dark)").matches,
    touch: matchMedia("(pointer: coarse)").matches,
    command: (command) => screens.command(command),
    save: saveFile,
    copy: (text) => navigator.clipboard?.writeText(text).catch(() => {}),
  });
  if (!gui) return null;
  screens.open(gui);
  if (page.offersTargets) screens.watchDevices();
  return screens;
}

class Screens {
  #page;
  #canvas;
  #gui;
  #abort = null;
  #ready = Promise.resolve(); // once the first model is available
  #choice = null;
  #sample = demo.sample;
  #targets = []; // without those of devices
  #own = []; // choices of the visitor's own files, after the shipped ones
  #feed = { model: 0, progress: [], busy: false, doing: "", error: "" };

  constructor(page, canvas) {
    this.#page = page;
    this.#canvas = canvas;
  }

  open(gui) {
    this.#gui = gui;
    const { models, engines, here } = this.#page;
    const place = models.findIndex(({ name }) => name === demo.model);
    this.#targets = [
      ...engines.map(({ name }, index) => ({
        target: `${here.host}/${name}`,
        available: Boolean(this.#page.variant.name),
        detail: index === 0 ? here.browser : "",
        by_default: index === 0,
      })),
      ...this.#page.pcTargets.map((target, index) => ({
        target,
        available: true,
        detail: index === 0 ? "the PC that serves this page" : "",
        by_default: false,
      })),
      // A static host runs nothing.
      ...(this.#page.pcTargets.length > 0 ? [] : [pcByServing]),
    ];
    this.#post({
      models: models.map(({ name }) => name),
      model: Math.max(0, place),
      history: allSeries(),
      targets: this.#targets,
    });
    this.#ready =
      models.length > 0 ? this.command({ do: "model", number: Math.max(0, place) }) : Promise.resolve();
  }

  /** Lists the devices of the PC's hub, as they come and go; never ends. */
  async watchDevices() {
    for (let listed = ""; ; await new Promise((resolve) => setTimeout(resolve, devicesMs))) {
      // The view is unknown before the first frame.
      if (document.hidden || (this.#canvas.dataset.view ?? "Run") !== "Run") continue;
      // Without an answer nothing can run there.
      const offered = await offeredTargets().catch(() => []);
      const now = JSON.stringify(offered);
      if (now === listed) continue;
      listed = now;
      this.#post({ targets: [...this.#targets, ...offered.map((one) => ({ ...one, by_default: false }))] });
      this.#canvas.dataset.devices = [...new Set(offered.map(({ target }) => target.split("/")[0]))].join(
        ",",
      );
    }
  }

  get gui() {
    return this.#gui;
  }

  get busy() {
    return this.#feed.busy;
  }

  /** The runs that this browser remembers. */
  showHistory() {
    this.#post({ history: allSeries() });
  }

  /** The history is included only when it is new: progress is reported many times a second. */
  #post({ history, ...change }) {
    Object.assign(this.#feed, change);
    this.#gui.feed({ ...this.#feed, history });
    this.#canvas.dataset.busy = this.#feed.busy;
    this.#canvas.dataset.error = this.#feed.error;
    const failed = this.#feed.progress.filter(({ error }) => error);
    this.#canvas.dataset.failed = failed.map(({ target, error }) => `${target}: ${error}`).join("\n");
  }

  async command(command) {
    if (command.do === "stop") return this.#abort?.abort();
    if (this.#feed.busy) return;
    try {
      this.#post({ busy: true, error: "" });
      if (command.do === "model") await this.#chooseModel(command.number);
      if (command.do === "sample") this.#chooseSample(command.number);
      if (command.do === "run") await this.#run(command);
      if (command.do === "demo") await this.#runDemo();
    } catch (error) {
      this.#post({ error: error.kind === "cancelled" ? "" : error.message });
    } finally {
      this.#post({ busy: false, doing: "" });
    }
  }

  /** A dropped file: a model becomes the chosen one, traces are shown. */
  async takeChoice(choice) {
    this.#own.push(choice);
    this.#choice = choice;
    const models = [
      ...this.#page.models.map(({ name }) => name),
      ...this.#own.map(({ name }) => `${name}.onnx`),
    ];
    this.#post({ models, model: models.length - 1, samples: 0, input: this.#inputText() });
  }

  async takeTraces(files) {
    const traces = await Promise.all(files.map(bytesOf));
    this.#gui.show({ title: files.map(({ name }) => name).join(", ") }, traces);
    this.#gui.view("Layers");
  }

  async takeKept(file) {
    this.showError("");
    this.#gui.showKept(await bytesOf(file));
    this.#gui.view("Layers");
  }

  /** `files`: [{path, bytes}] of studies, attacks, training curves. The views of what was opened come up. */
  takeResults(files) {
    this.showError(this.#gui.showResults(files) ?? "");
  }

  showError(error) {
    this.#post({ error });
  }

  async #chooseModel(place) {
    const { models } = this.#page;
    this.#post({ model: place, doing: `fetching ${models[place]?.name ?? "the model"}` });
    this.#choice =
      place < models.length ? await this.#page.choose(models[place]) : this.#own[place - models.length];
    const count = this.#choice.samples?.count ?? 0;
    this.#sample = this.#choice.samples ? this.#choice.nearest(demo.sample) : 0;
    this.#post({ samples: count, sample: this.#sample, input: this.#inputText() });
  }

  #chooseSample(sample) {
    this.#sample = this.#choice?.samples ? this.#choice.nearest(sample) : 0;
    this.#post({ sample: this.#sample, input: this.#inputText() });
  }

  #inputText() {
    const choice = this.#choice;
    if (!choice?.samples) return "chosen to fit the model; random numbers have the seed 42";
    return `sample ${this.#sample} of ${choice.samples.title}, labelled ${choice.labelOf(this.#sample)}`;
  }

  async #runDemo() {
    const place = this.#page.models.findIndex(({ name }) => name === demo.model);
    if (place < 0) throw new Error(`The model of the demo, ${demo.model}, is not on this site.`);
    await this.#chooseModel(place);
    await this.#run({
      targets: this.#page.engines.filter(demo.takes).map(({ name }) => `${this.#page.here.host}/${name}`),
      dataset: true,
    });
  }

  /** By name, for links: engines of this browser. */
  async runLink({ model, targets, checks }) {
    await this.#ready;
    const place = this.#page.models.findIndex(({ name }) => name === model);
    if (place >= 0) await this.command({ do: "model", number: place });
    const { host } = this.#page.here;
    await this.command({
      do: "run",
      targets: targets.map((target) => (target.includes("/") ? target : `${host}/${target}`)),
      repeat: checks.includes("repeat") ? repeatCheckRuns : undefined,
      perturbation_check: checks.includes("capturing"),
      watch_memory: checks.includes("memory"),
    });
  }

  /**
   * With `dataset` each target predicts the whole test set as well. Checks: the bits of `repeat` runs,
   * whether capturing changes the outputs, and whether memory grows from run to run.
   */
  async #run({ targets, dataset = false, repeat, perturbation_check = false, watch_memory = false }) {
    const { here, variant } = this.#page;
    const choice = this.#choice;
    this.#abort = new AbortController();
    const waiting = { state: "waiting", step: "", done: 0, total: 0, error: "" };
    const progress = targets.map((target) => ({ target, ...waiting }));
    const step = (place, change) => {
      Object.assign(progress[place], change);
      this.#post({ progress });
    };
    this.#post({ progress, doing: "running" });
    const shown = []; // by place; without those that have no recording
    // What a target computed is shown before its times are measured.
    const plan = { targets, perturbation_check, watch_memory, measure_times: true };
    if (dataset && choice.samples)
      Object.assign(plan, { samples: choice.samples.count, labels: choice.labels() });
    const task = {
      variant: variant.name,
      threads: threadsFor(variant, here, 0),
      memory: this.#page.askedMemory(),
      model: choice.bytes,
      attachments: choice.attachments,
    };
    try {
      await compareTargets(plan, task, (target, purpose) => this.#runOf(choice, target, purpose, repeat), {
        onStep: (place, change) => step(place, { state: "running", ...change }),
        onRun: async (place, whole, result) => {
          addRun(choice.name, whole, result);
          await this.#page.keptChanged();
        },
        onResult: (result) => {
          const { place, done, recorded, error } = result;
          if (recorded) {
            const first = shown.length === 0;
            shown[place] = result;
            this.#show(
              choice,
              shown.filter((one) => one),
            );
            if (first) this.#gui.view("Layers");
          }
          if (error && done) step(place, { state: "failed", error: error.message });
          else if (done) step(place, { state: "done", done: 1, total: 1 });
        },
        signal: this.#abort.signal,
      });
    } catch (error) {
      const place = progress.findIndex(({ state }) => state === "running");
      if (place >= 0) step(place, { state: "failed", error: error.message });
      throw error;
    }
  }

  /** The inputs and the start of a run: of the chosen sample, or of the whole set. */
  #runOf(choice, target, purpose, repeat) {
    const { here, variant } = this.#page;
    const about = { target, environment: environment(here, variant) };
    if (purpose === "dataset") {
      const { start, inputs } = choice.wholeSet();
      return { inputs, start: { ...start, ...about } };
    }
    const { samples } = choice;
    const runs = repeat ?? (isOnDevice(target) ? deviceRepeats : 0);
    const purposes = {
      layers: {
        ...(runs ? { repeat: runs, compare_runs: true } : {}),
        times: false,
        capture: "all",
        stream: true,
      },
      times: { settle_ms: settleMs, unwatched_ms: unwatchedMs, capture: "all", values: [] },
      outputs: { capture: "outputs" },
      memory: { capture: "outputs", memory_runs: memoryRuns },
    };
    return {
      inputs: samples ? choice.inputs([this.#sample], [1]) : new Uint8Array(0),
      start: { ...about, seed: samples ? undefined : 42, ...purposes[purpose] },
    };
  }

  /** `results` as of comparison.mjs. */
  #show(choice, results) {
    const comparisons = results.map(({ comparison }) => comparison);
    const traces = results.map(({ trace }) => trace);
    const label = choice.samples ? choice.labelOf(this.#sample) : "";
    const run = {
      title: `${choice.name}.onnx`,
      model_sha256: comparisons[0]?.left?.verify?.model_sha256 ?? "",
      input: this.#inputText(),
      label,
      class_names: choice.description?.labels ?? [],
      dataset: choice.samples ? `${choice.samples.title}, ${choice.samples.count} samples` : "",
      topology: results.at(-1).topology,
      comparisons,
    };
    this.#gui.show(run, traces);
    this.#canvas.dataset.targets = traces.length;
    this.#page.table.closest("details").hidden = false;
    showComparison(this.#page.table, comparisons, results.at(-1).metrics);
  }
}
