// What to run: a shipped model with its test set, or files of the visitor's own.
// Client: page.mjs. It fetches and reads; it shows nothing.
import { download, httpText } from "./download.mjs";
import { RunError } from "../shared/errors.mjs";
import { writeSafetensors } from "../shared/safetensors.mjs";
import { loadSet, preprocess, setFor } from "./samples.mjs";
import { fetchModel } from "./store.mjs";

export const root = new URL("../../", import.meta.url);

/** The parsed file, or with `optional` null where there is none. */
export async function fetchJson(path, { signal, optional = false } = {}) {
  const response = await fetch(new URL(path, root), { signal }).catch((error) => {
    if (signal?.aborted) throw new RunError("cancelled", "Stopped.");
    throw new RunError("io", `${path}: ${error.message}`);
  });
  if (optional && response.status === 404) return null;
  if (!response.ok) throw new RunError("io", `${path}: ${httpText(response)}`);
  return response.json();
}

/**
 * A model, and the source of its inputs: `samples` with their `description`, or a seed. `from` describes
 * the source of its bytes.
 */
class Choice {
  constructor({ name, bytes, from, attachments = [], description = null, samples = null }) {
    Object.assign(this, { name, bytes, from, attachments, description, samples });
  }

  /** The nearest existing index. */
  nearest(index) {
    return Math.min(this.samples.count - 1, Math.max(0, Math.trunc(index) || 0));
  }

  labelOf(index) {
    const label = this.samples.label(index);
    return this.description.labels?.[label] ?? String(label);
  }

  /** Samples `indices`, one after the other along `leading` axes, as a safetensors file. */
  inputs(indices, leading) {
    const { description, samples } = this;
    const parts = indices.map((index) => preprocess(samples.pixels(index), description));
    const values = new Float32Array(parts.length * parts[0].length);
    parts.forEach((part, i) => values.set(part, i * part.length));
    const shape = [...leading, description.channels, description.height, description.width];
    return writeSafetensors([{ name: description.input, shape, values }]);
  }

  /** The class of each sample. */
  labels() {
    return Array.from({ length: this.samples.count }, (_, i) => this.samples.label(i));
  }

  /** Number of predictions that equal the labels. */
  countRight(predictions) {
    return predictions.filter((best, i) => best === this.samples.label(i)).length;
  }

  /** What running the whole test set needs: `start` and `inputs` of a task. */
  wholeSet() {
    const { count } = this.samples;
    const indices = Array.from({ length: count }, (_, i) => i);
    return {
      start: { repeat: 1, capture: "outputs", samples: count },
      inputs: this.inputs(indices, [count, 1]),
    };
  }
}

/** A model of assets/models.json ({name, bytes, sha256}); `onProgress` as of download. */
export async function chooseShipped(entry, { onProgress, signal } = {}) {
  const { name } = entry;
  const description = await fetchJson(`assets/models/${name}.preprocess.json`, { signal, optional: true });
  const set = setFor(description);
  const fetchSet = (file) => download(new URL(`assets/${file}`, root), { what: file, signal });
  const samples = set && (await loadSet(set, fetchSet));
  const url = new URL(`assets/models/${name}.onnx`, root);
  const model = await fetchModel(url, entry, { onProgress, signal });
  return new Choice({ name, ...model, description, samples });
}

// As in native/browser/run_in_browser.hpp: the engine's memory is limited to 4 GiB.
const maxModelBytes = 1536 * 2 ** 20;

/** One .onnx and the external data files that it names. */
export async function chooseFiles(files) {
  const models = files.filter((file) => /\.onnx$/i.test(file.name));
  if (models.length !== 1)
    throw new RunError("bad_input", "Choose one .onnx file (and its data files, if it has any).");
  const total = files.reduce((sum, file) => sum + file.size, 0);
  if (total > maxModelBytes)
    throw new RunError(
      "limit",
      `The model has ${Math.ceil(total / 2 ** 20)} MiB; here it may have up to ` +
        `${maxModelBytes / 2 ** 20} MiB, since the engine's memory ends at 4 GiB.`,
    );
  const read = async (file) => {
    return { name: file.name, bytes: new Uint8Array(await file.arrayBuffer()) };
  };
  const { name, bytes } = await read(models[0]);
  const attachments = await Promise.all(files.filter((file) => file !== models[0]).map(read));
  return new Choice({ name: name.replace(/\.onnx$/i, ""), bytes, from: "a file", attachments });
}
