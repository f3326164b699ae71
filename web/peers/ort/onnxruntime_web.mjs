// onnxruntime-web for peers.mjs, with one of its execution providers. Its files lie in a folder beside
// engine/ and are loaded with the first model. Clients: ort.mjs, ../ort-webgpu, ../ort-webgl.
import { Threads } from "../../shared/threads.mjs";
import { PeerError } from "../peers.mjs";

// A start takes a second or two. If it takes this long (threads.mjs knows of one reason), another
// module, with other workers, is tried with twice the time limit. If that hangs too, the whole worker may
// be at fault: see `stuck`.
const startLimit = { ms: 10_000, times: 2 };

// Half precision travels as its bits; two 4-bit elements share a byte.
const arrays = {
  float32: Float32Array,
  float64: Float64Array,
  float16: Uint16Array,
  int64: BigInt64Array,
  uint64: BigUint64Array,
  int32: Int32Array,
  uint32: Uint32Array,
  int16: Int16Array,
  uint16: Uint16Array,
  int8: Int8Array,
  uint8: Uint8Array,
  bool: Uint8Array,
  int4: Int8Array,
  uint4: Uint8Array,
};

// The option opt, in onnxruntime-web's terms.
const levels = { none: "disabled", basic: "basic", extended: "extended", all: "all" };

/** Calls `action` and keeps the shared memory that it creates: ONNX Runtime does not expose its heap. */
async function watchMemory(action, found) {
  const Memory = WebAssembly.Memory;
  WebAssembly.Memory = new Proxy(Memory, {
    construct(target, args) {
      const memory = Reflect.construct(target, args);
      if (args[0]?.shared && args[0].initial > 0) found(memory);
      return memory;
    },
  });
  try {
    return await action();
  } finally {
    WebAssembly.Memory = Memory;
  }
}

export class OnnxRuntimeWeb {
  #folder;
  #build;
  #runtime = null; // {ort, threads, memory, pool}
  #broken = 0; // how many runtimes crashed; to import a module again it needs another name
  #facts = {}; // of what it computes on, for the trace
  stuck = null;

  /**
   * `build`: {module, provider, wasm?, language, check?}: which module to import, the execution provider, the
   * wasm file that it loads, what its kernels are written in; check() rejects where it cannot run, and
   * resolves to {device, software}.
   */
  constructor(folder, build) {
    this.#folder = folder;
    this.#build = build;
  }

  close() {
    this.#runtime?.pool.end();
    this.#runtime = null;
  }

  async open({ bytes, files, options: { opt = "all", ...extra }, threads }) {
    const externalData = files.map(({ name, data }) => ({ path: name, data }));
    const options = {
      executionProviders: [this.#build.provider],
      graphOptimizationLevel: levels[opt],
      logSeverityLevel: 4,
      extra,
      ...(externalData.length > 0 && { externalData }),
    };
    return this.#open(bytes, options, threads);
  }

  tensor(dtype, shape, buffer) {
    return new this.#runtime.ort.Tensor(dtype, new arrays[dtype](buffer), shape);
  }

  async run(session, inputs, outputs) {
    const values = await session.run(inputs, outputs);
    return outputs.map((name) => {
      const { type, dims, data } = values[name];
      return { dtype: type, shape: [...dims], data };
    });
  }

  release(session) {
    return session.release();
  }

  about() {
    const { threads } = this.#runtime;
    const { wasm, language } = this.#build;
    const { device, software } = this.#facts;
    const options = { ...(wasm && { wasm }), ...(software && { software_gpu: "true" }) };
    return { threads, instruction_set: language, options, ...(device && { device }) };
  }

  heap() {
    return this.#runtime?.memory?.buffer.byteLength ?? null;
  }

  failure(error, rejection) {
    const message = error?.message ?? String(error);
    if (/bad_alloc|out of memory|OOM|failed to allocate/i.test(message) || error instanceof RangeError)
      return { kind: "limit", message };
    const kind = /ERROR_CODE: 9\b/.test(message) ? "unsupported" : rejection; // ORT_NOT_IMPLEMENTED
    return { kind, message: message.replace(/^.*?ERROR_MESSAGE: /s, "") };
  }

  /** Where it trapped. */
  died(error) {
    if (error instanceof WebAssembly.RuntimeError) this.#giveUp();
  }

  async #open(bytes, options, threads) {
    for (let attempt = 1; ; ++attempt) {
      try {
        return await this.#openOnce(bytes.slice(), options, threads, startLimit.ms * attempt);
      } catch (error) {
        if (!/due to timeout/.test(error?.message)) throw error;
        if (attempt === startLimit.times) {
          this.stuck = error instanceof PeerError ? error.answer : this.failure(error, "missing");
          throw error;
        }
        this.#giveUp();
      }
    }
  }

  #giveUp() {
    ++this.#broken;
    this.close();
  }

  async #openOnce(bytes, options, threads, limitMs) {
    const create = () => this.#runtime.ort.InferenceSession.create(bytes, options);
    if (this.#runtime) return create();
    this.#facts = (await this.#build.check?.()) ?? {};
    const ort = await this.#load();
    ort.env.logLevel = "fatal";
    ort.env.wasm.initTimeout = limitMs;
    ort.env.wasm.numThreads = globalThis.crossOriginIsolated === false ? 1 : threads;
    const runtime = { ort, threads: 1, version: ort.env.versions.web, memory: null, pool: new Threads() };
    this.#runtime = runtime;
    try {
      return await runtime.pool.keep(() => watchMemory(create, (memory) => (runtime.memory = memory)));
    } catch (error) {
      if (runtime.memory === null) this.close();
      if (/no available backend/.test(error?.message))
        throw new PeerError("missing", `onnxruntime-web could not start: ${error.message}`, true);
      throw error;
    } finally {
      runtime.threads = ort.env.wasm.numThreads; // lowered by the runtime where there are no threads
    }
  }

  async #load() {
    const url = new URL(this.#build.module, this.#folder);
    if (this.#broken > 0) url.search = `again=${this.#broken}`;
    try {
      return await import(url.href);
    } catch (error) {
      const message =
        `the site lacks onnxruntime-web (${error.message}); run tools/setup, then ` +
        `'cmake --build --preset web'`;
      throw new PeerError("missing", message, true);
    }
  }
}
