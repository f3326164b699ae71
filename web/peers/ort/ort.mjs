// onnxruntime-web behind the engine ort: requests of web/peers/ort/backend.cpp, answered at once; what takes
// time goes on in the event loop, see settled(). Its files lie in ort/ beside engine/ and are loaded when
// the first model comes. Clients: engine.mjs (hands it to the wasm module), worker.mjs.

import { Threads } from "../../shared/threads.mjs";

const wasmFile = "ort-wasm-simd-threaded.wasm";

// A start takes a second or two. When it took as long as this (threads.mjs knows of one reason), another
// module, with other workers, is tried with twice the patience. Where that hangs as well the whole worker may
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

const bytesOf = (array) => new Uint8Array(array.buffer, array.byteOffset, array.byteLength);

/** `own`: the words are ours and not ONNX Runtime's. */
class HostError extends Error {
  constructor(kind, message, own = false) {
    super(message);
    this.answer = { kind, message, own };
  }
}

/** What ONNX Runtime threw, with what a rejection at this point means where it does not say. */
function fromOrt(error, rejection) {
  if (error instanceof HostError) return error;
  const message = error?.message ?? String(error);
  if (/bad_alloc|out of memory|OOM|failed to allocate/i.test(message) || error instanceof RangeError)
    return new HostError("limit", message);
  const kind = /ERROR_CODE: 9\b/.test(message) ? "unsupported" : rejection; // ORT_NOT_IMPLEMENTED
  return new HostError(kind, message.replace(/^.*?ERROR_MESSAGE: /s, ""));
}

/** Calls `action` and keeps the shared memory that it makes: ONNX Runtime shows its heap to nobody. */
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

export class OrtHost {
  #folder;
  #models = new Map(); // number → {session, busy, error, result}
  #made = 0;
  #runtime = null; // {ort, threads, memory, pool}
  #broken = 0; // how many runtimes died; a module that is imported again needs another name
  /** The error if its threads did not start, whatever was tried here: another worker may have more luck. */
  stuck = null;
  #work = Promise.resolve();

  /** `folder`: URL of the files of onnxruntime-web. */
  constructor(folder) {
    this.#folder = folder;
  }

  /** Ends the threads. */
  close() {
    this.#runtime?.pool.end();
    this.#runtime = null;
  }

  /** Resolves when nothing is under way any more: then the engine has something new to poll for. */
  settled() {
    return this.#work;
  }

  /** `memory` is that of the engine; a request names places in it. */
  request(head, memory) {
    const at = (place) => new Uint8Array(memory.buffer, place.at >>> 0, place.bytes >>> 0);
    try {
      return this[`_${head.do}`](head, at);
    } catch (error) {
      return { error: fromOrt(error, "internal").answer };
    }
  }

  _create({ model, files, optimization, config, threads }, at) {
    const state = { session: null, busy: false, error: null, result: null };
    const number = ++this.#made;
    this.#models.set(number, state);
    const bytes = at(model).slice(); // the engine's heap moves when it grows
    const externalData = files.map((file) => ({ path: file.name, data: at(file).slice() }));
    const options = {
      executionProviders: ["wasm"],
      graphOptimizationLevel: optimization,
      logSeverityLevel: 4,
      extra: config ?? {},
      ...(externalData.length > 0 && { externalData }),
    };
    this.#begin(state, "unsupported", async () => {
      state.session = await this.#open(bytes, options, threads);
    });
    return { model: number };
  }

  _run({ model, inputs, outputs }, at) {
    const state = this.#models.get(model);
    const { Tensor } = this.#runtime.ort;
    const feeds = {};
    for (const { name, dtype, shape, ...place } of inputs)
      feeds[name] = new Tensor(dtype, new arrays[dtype](at(place).slice().buffer), shape);
    this.#begin(state, "bad_input", async () => {
      const begin = performance.now();
      const values = await state.session.run(feeds, outputs);
      const time_ns = Math.round((performance.now() - begin) * 1e6);
      state.result = { time_ns, tensors: outputs.map((name) => values[name]) };
    });
    return {};
  }

  _look({ model }) {
    const state = this.#models.get(model);
    if (state.error) return { error: state.error.answer };
    if (state.busy) return { busy: true };
    const { threads, version } = this.#runtime;
    const about = { threads, version, wasm: wasmFile, instruction_set: "wasm SIMD128" };
    if (!state.result) return { about };
    const { time_ns, tensors } = state.result;
    const values = tensors.map(({ type, dims, data }) => {
      return { dtype: type, shape: [...dims], bytes: data.byteLength };
    });
    return { about, time_ns, values };
  }

  _copy({ model, to }, at) {
    const state = this.#models.get(model);
    state.result.tensors.forEach(({ data }, i) => at(to[i]).set(bytesOf(data)));
    state.result = null;
    return {};
  }

  _heap() {
    return { bytes: this.#runtime?.memory?.buffer.byteLength ?? null };
  }

  _release({ model }) {
    const state = this.#models.get(model);
    this.#models.delete(model);
    if (state) this.#work = this.#work.then(() => state.session?.release()).catch(() => {});
    return {};
  }

  /** `rejection`: the kind of an error for which ONNX Runtime gives no reason of its own. */
  #begin(state, rejection, action) {
    state.busy = true;
    this.#work = this.#work.then(action).catch((error) => {
      state.error = fromOrt(error, rejection);
      // A runtime that trapped is in no state to go on; the next model gets a new one.
      if (error instanceof WebAssembly.RuntimeError) this.#giveUp();
    });
    this.#work = this.#work.then(() => (state.busy = false));
  }

  async #open(bytes, options, threads) {
    for (let attempt = 1; ; ++attempt) {
      try {
        return await this.#openOnce(bytes.slice(), options, threads, startLimit.ms * attempt);
      } catch (error) {
        if (!/due to timeout/.test(error?.message)) throw error;
        if (attempt === startLimit.times) {
          this.stuck = fromOrt(error, "missing").answer;
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
        throw new HostError("missing", `onnxruntime-web could not start: ${error.message}`, true);
      throw error;
    } finally {
      runtime.threads = ort.env.wasm.numThreads; // it lowers the number where there are no threads
    }
  }

  async #load() {
    const url = new URL("ort.wasm.bundle.min.mjs", this.#folder);
    if (this.#broken > 0) url.search = `again=${this.#broken}`;
    try {
      return await import(url.href);
    } catch (error) {
      const message =
        `the site lacks onnxruntime-web (${error.message}); run tools/setup, then ` +
        `'cmake --build --preset web'`;
      throw new HostError("missing", message, true);
    }
  }
}
