// TensorFlow.js for peers.mjs, with one of its backends. Its files lie in the folder tfjs/ beside engine/ and
// are loaded with the first model. Clients: ../tfjs-cpu, ../tfjs-wasm, ../tfjs-webgl, ../tfjs-webgpu.
import { openPackage } from "../packages.mjs";
import { PeerError } from "../peers.mjs";
import { profiled } from "./kernel_times.mjs";
import { artifactsOf, finalNodes } from "./model.mjs";
import { loadScript } from "./scripts.mjs";

const arrays = { float32: Float32Array, int32: Int32Array, bool: Uint8Array };

/** Where the three scripts and the backend's other files are: beside engine/, or in packages of a release. */
async function placesOf(folder, packages, release, { name, script }) {
  const core = ["tf-core.min.js", "tf-converter.min.js"];
  if (!release) return { scripts: [...core, script].map((file) => new URL(file, folder)), folder };
  const parts = ["core", "converter", `backend-${name}`];
  const opened = [];
  for (const part of parts) opened.push(await openPackage(packages, `@tensorflow/tfjs-${part}`, release));
  const scripts = [...core, script].map((file, i) => opened[i].url(`dist/${file}`));
  // Another release in the same process keeps its state in these.
  for (const global of ["tf", "_tfengine", "_tfGlobals"]) delete globalThis[global];
  return { scripts, folder: opened[2].url("dist/") };
}

export class TensorFlowJs {
  #folder;
  #packages;
  #backend;
  #tf = null;
  #facts = {};
  #leaked = 0; // tensors, in all runs
  stuck = null;

  /**
   * `backend`: {name, script, language, prepare?, describe?, heap?, profiles?}: the backend's name, its
   * bundle, what its kernels are written in; prepare(tf, folder, request) before it starts, describe(tf,
   * folder, request) → {threads?, instruction_set?, device?, options?} afterwards; heap(tf) → {bytes, kind}
   * or null; profiles(tf): whether kernels can be timed here.
   */
  constructor(folder, packages, backend) {
    this.#folder = new URL("../tfjs/", folder);
    this.#backend = backend;
    this.#packages = packages;
  }

  close() {}

  async open({ converted, options, threads }) {
    const tf = await this.#start({ options, threads });
    const artifacts = artifactsOf(converted);
    const model = await tf.loadGraphModel({ load: async () => artifacts });
    return { model, last: finalNodes(artifacts.modelTopology) };
  }

  tensor(dtype, shape, buffer) {
    return { dtype, shape, buffer };
  }

  async run(session, inputs, outputs, { timed } = {}) {
    const tf = this.#tf;
    const before = tf.memory().numTensors;
    const feeds = Object.fromEntries(
      Object.entries(inputs).map(([name, input]) => [name, this.#tensor(name, input)]),
    );
    let results = [];
    let times;
    try {
      const execute = () => session.model.execute(feeds, outputs);
      if (timed && (this.#backend.profiles?.(tf) ?? true)) {
        const run = await profiled(tf, session.model, execute);
        results = [run.result].flat();
        times = run.times.map(([name, ms]) => [session.last.get(name) ?? name, ms]);
      } else results = [execute()].flat();
      const values = [];
      for (const tensor of results) values.push(await this.#value(tensor));
      return { values, ...(times && { times }) };
    } finally {
      tf.dispose([...results, ...Object.values(feeds)]);
      // What is neither an input nor an output nor a weight should be gone after a run.
      this.#leaked += Math.max(0, tf.memory().numTensors - before);
    }
  }

  release({ model: graphModel }) {
    graphModel.dispose();
  }

  about() {
    const { threads = 1, instruction_set = this.#backend.language, device, options } = this.#facts;
    return {
      threads,
      instruction_set,
      options: {
        backend: this.#tf.getBackend(),
        tfjs: this.#tf.version_core,
        ...(this.#leaked > 0 && { leaked_tensors: String(this.#leaked) }),
        ...options,
      },
      ...(device && { device }),
    };
  }

  heap() {
    if (!this.#tf) return null;
    return this.#backend.heap?.(this.#tf) ?? { bytes: this.#tf.memory().numBytes, kind: "tfjs_tensors" };
  }

  failure(error, rejection) {
    const message = error?.message ?? String(error);
    if (/out of memory|Array buffer allocation failed|Invalid typed array length/i.test(message))
      return { kind: "limit", message };
    return { kind: rejection, message };
  }

  died() {}

  #tensor(name, { dtype, shape, buffer }) {
    if (!arrays[dtype])
      throw new PeerError("unsupported", `TensorFlow.js has no tensors of ${dtype} (input ${name})`, true);
    return this.#tf.tensor(new arrays[dtype](buffer), shape, dtype);
  }

  async #value(tensor) {
    const { dtype, shape } = tensor;
    const data = await tensor.data();
    // A cast without loss only renames the type: a float32 tensor may hold the bytes of a bool.
    return {
      dtype,
      shape: [...shape],
      data: data instanceof arrays[dtype] ? data : arrays[dtype].from(data),
    };
  }

  async #start(request) {
    if (this.#tf) return this.#tf;
    const { release } = request.options;
    const { scripts, folder } = await placesOf(this.#folder, this.#packages, release, this.#backend);
    try {
      for (const script of scripts) await loadScript(script);
    } catch (error) {
      if (release)
        throw new PeerError("unsupported", `TensorFlow.js ${release} does not load: ${error.message}`, true);
      const message =
        `the site lacks TensorFlow.js (${error.message}); run tools/setup, then ` +
        `'cmake --build --preset web'`;
      throw new PeerError("missing", message, true);
    }
    const { tf } = globalThis;
    if (release && tf.version_core !== release)
      throw new PeerError("missing", `TensorFlow.js ${release} was asked for, ${tf.version_core} came`, true);
    await this.#backend.prepare?.(tf, folder, request);
    if (!(await tf.setBackend(this.#backend.name)))
      throw new PeerError("missing", `TensorFlow.js could not start its backend ${this.#backend.name}`, true);
    await tf.ready();
    this.#facts = (await this.#backend.describe?.(tf, folder, request)) ?? {};
    this.#tf = tf;
    return tf;
  }
}
