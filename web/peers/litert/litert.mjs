// LiteRT.js for peers.mjs, with one of its accelerators. Its files lie in the folder litert/ beside engine/
// and are loaded with the first model. Clients: ../litert-wasm, ../litert-webgpu, ../litert-webnn.
import { Threads } from "../../shared/threads.mjs";
import { PeerError } from "../peers.mjs";
import { chooseBuild } from "./builds.mjs";
import { Log } from "./log.mjs";
import { loadModule } from "./module.mjs";

const arrays = { float32: Float32Array, int32: Int32Array, uint8: Uint8Array };

export class LiteRt {
  #folder;
  #accelerator;
  #runtime = null; // {litert, build, threads, log, pool}
  #broken = 0; // how many modules crashed; to import one again it needs another name
  #facts = {}; // of the latest model, for the trace
  stuck = null;

  /**
   * `accelerator`: {name, language?, compileOptions?(options), check?()}: as LiteRT.js calls it; what its
   * kernels are written in, where they are not WebAssembly; what LiteRT.js is given beside the model; check()
   * rejects where it cannot run, and resolves to {device?, software?}.
   */
  constructor(folder, accelerator) {
    this.#folder = new URL("../litert/", folder);
    this.#accelerator = accelerator;
  }

  close() {
    try {
      this.#runtime?.litert.unloadLiteRt();
    } catch {
      // A module that crashed cannot delete its objects; the garbage collector takes it whole.
    }
    this.#runtime?.pool.end();
    this.#runtime = null;
  }

  async open({ converted, options, threads }) {
    const { litert, log, build } = await this.#start(threads);
    const { name, compileOptions } = this.#accelerator;
    log.clear();
    const model = await litert.loadAndCompile(new Uint8Array(converted[0].data), {
      accelerator: name,
      ...(name === "wasm" && { cpuOptions: { numThreads: build.name === "threaded" ? threads : 1 } }),
      ...compileOptions?.(options),
    });
    if (model.options.accelerator !== name) {
      model.delete();
      const message =
        `LiteRT.js cannot run all of this model on ${name}, and without JSPI the browser cannot run the ` +
        "rest on the CPU";
      throw new PeerError("unsupported", message, true);
    }
    this.#facts.accelerated = model.isFullyAccelerated;
    return { model };
  }

  tensor(dtype, shape, buffer) {
    return { dtype, shape, buffer };
  }

  async run({ model }, inputs, outputs) {
    const { litert, log } = this.#runtime;
    log.clear();
    const feeds = {};
    let results = {};
    try {
      for (const [name, { dtype, shape, buffer }] of Object.entries(inputs)) {
        if (!arrays[dtype])
          throw new PeerError("unsupported", `LiteRT.js has no tensors of ${dtype} (input ${name})`, true);
        feeds[name] = new litert.Tensor(new arrays[dtype](buffer), shape);
      }
      results = await model.run(feeds);
      const values = [];
      for (const name of outputs) {
        if (!results[name]) throw new Error(`the model has no output ${name}`);
        values.push(await this.#value(results[name]));
      }
      return { values };
    } finally {
      for (const tensor of [...Object.values(feeds), ...Object.values(results)])
        if (!tensor.deleted) tensor.delete();
    }
  }

  release({ model }) {
    if (this.#runtime && !model.deleted) model.delete();
  }

  about() {
    const { build, threads } = this.#runtime;
    const { device, software, accelerated } = this.#facts;
    return {
      threads,
      instruction_set: this.#accelerator.language ?? build.language,
      options: {
        litert_build: build.name,
        ...(accelerated !== undefined && { fully_accelerated: String(accelerated) }),
        ...(software && { software_gpu: "true" }),
      },
      ...(device && { device }),
    };
  }

  heap() {
    const bytes = this.#runtime?.wasm.HEAPU8?.buffer.byteLength;
    return bytes === undefined ? null : { bytes, kind: "litert_wasm_heap" };
  }

  failure(error, rejection) {
    const said = this.#runtime?.log.errors() ?? "";
    const message = (error?.message ?? String(error)) + (said && `: ${said}`);
    if (
      /bad_alloc|out of memory|OOM|Array buffer allocation failed/i.test(message) ||
      error instanceof RangeError
    )
      return { kind: "limit", message };
    return { kind: rejection, message };
  }

  /** Where it trapped. */
  died(error) {
    if (!(error instanceof WebAssembly.RuntimeError)) return;
    ++this.#broken;
    this.close();
  }

  async #value(tensor) {
    const { dtype, layout } = tensor.type;
    return { dtype, shape: [...layout.dimensions], data: await tensor.data() };
  }

  async #start(threads) {
    const build = chooseBuild(this.#accelerator.name, threads);
    if (this.#runtime?.build.name === build.name) return this.#runtime;
    this.close();
    this.#facts = (await this.#accelerator.check?.()) ?? {};
    const pool = new Threads();
    const log = new Log();
    const instance = `${this.#accelerator.name}-${build.name}-${this.#broken}`;
    const { litert, wasm } = await pool.keep(() => loadModule(this.#folder, build, instance, log));
    this.#runtime = { litert, wasm, build, log, pool, threads: build.name === "threaded" ? threads : 1 };
    return this.#runtime;
  }
}
