// onnxruntime-web for peers.mjs, with one of its execution providers. Its files lie in a folder beside
// engine/ and are loaded with the first model. Clients: ort.mjs, ../ort-webgpu, ../ort-webgl.
import { Threads } from "../../shared/threads.mjs";
import { openPackage } from "../packages.mjs";
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

/** Names of a build's module through the releases, the newest first. */
const modulesOf = (build) => [
  `dist/ort.${build}.bundle.min.mjs`,
  `dist/ort.${build}.min.mjs`,
  `dist/esm/ort.${build}.min.js`,
];

/** The wasm file that was fetched last; `known` where it is not known. */
function wasmFetched(known) {
  const fetched = performance.getEntriesByType?.("resource") ?? [];
  const names = fetched.map(({ name }) => new URL(name).pathname.split("/").pop());
  return names.filter((name) => name.endsWith(".wasm") && name.startsWith("ort")).pop() ?? known;
}

export class OnnxRuntimeWeb {
  #folder;
  #packages;
  #build;
  #runtime = null; // {ort, threads, memory, pool}
  #broken = 0; // how many runtimes crashed; to import a module again it needs another name
  #facts = {}; // of what it computes on, for the trace
  stuck = null;

  /**
   * `build`: {name, module, provider, wasm?, language, check?}: the build as the package names it, which
   * module to import, the execution provider, the wasm file that it loads, what its kernels are written in;
   * check() rejects where it cannot run, and resolves to {device, software}. `packages`: as of a Peer.
   */
  constructor(folder, packages, build) {
    this.#folder = folder;
    this.#build = build;
    this.#packages = packages;
  }

  close() {
    this.#runtime?.pool.end();
    this.#runtime = null;
  }

  async open({ bytes, files, options: { opt = "all", release, build, ...extra }, threads }) {
    const externalData = files.map(({ name, data }) => ({ path: name, data }));
    const options = {
      executionProviders: [this.#build.provider],
      graphOptimizationLevel: levels[opt],
      logSeverityLevel: 4,
      extra,
      ...(externalData.length > 0 && { externalData }),
    };
    return this.#open(bytes, options, { threads, release, name: build ?? this.#build.name });
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
    const { language } = this.#build;
    const { device, software, wasm } = this.#facts;
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

  async #open(bytes, options, wanted) {
    for (let attempt = 1; ; ++attempt) {
      try {
        return await this.#openOnce(bytes.slice(), options, wanted, startLimit.ms * attempt);
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

  async #openOnce(bytes, options, wanted, limitMs) {
    const create = () => this.#runtime.ort.InferenceSession.create(bytes, options);
    if (this.#runtime) return create();
    this.#facts = (await this.#build.check?.()) ?? {};
    const ort = await this.#load(wanted);
    ort.env.logLevel = "fatal";
    ort.env.wasm.initTimeout = limitMs;
    const alone = globalThis.crossOriginIsolated === false || ort.env.wasm.wasmPaths !== undefined;
    ort.env.wasm.numThreads = alone ? 1 : wanted.threads;
    const runtime = { ort, threads: 1, memory: null, pool: new Threads() };
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
      const { wasm } = this.#build;
      if (wasm || wanted.release)
        this.#facts = { ...this.#facts, wasm: wanted.release ? wasmFetched(wasm) : wasm };
    }
  }

  async #load({ release, name }) {
    if (release) return this.#loadRelease(release, name);
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

  async #loadRelease(release, name) {
    const files = await openPackage(this.#packages, "onnxruntime-web", release);
    const module = modulesOf(name).find((file) => files.files.has(file));
    if (!module) {
      const message =
        `onnxruntime-web ${release} has no build ${name} that is a module ` +
        `(${modulesOf(name).join(", ")})`;
      throw new PeerError("unsupported", message, true);
    }
    const url = files.url(module);
    if (this.#broken > 0) url.search = `again=${this.#broken}`;
    let ort;
    try {
      ort = await import(url.href);
      ort = ort.env ? ort : ort.default;
    } catch (error) {
      throw new PeerError("unsupported", `onnxruntime-web ${release} does not load: ${error.message}`, true);
    }
    const web = ort.env.versions?.web;
    if (web !== undefined && web !== release)
      throw new PeerError("missing", `onnxruntime-web ${release} was asked for, ${web} came`, true);
    // Before 1.19 it looks for its files beside the page's script, and starts threads from blob: URLs, which
    // the page's security policy forbids.
    if (module.startsWith("dist/esm/")) ort.env.wasm.wasmPaths = files.url("dist/").href;
    return ort;
  }
}
