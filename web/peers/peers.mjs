// Third-party runtimes in the engine's worker: requests of web/peers/bridge.cpp get an immediate response;
// longer work continues in the event loop, see settled(). Code specific to a runtime: NAME/NAME.mjs, whose
// class `Peer` is loaded with the first model for it. Clients: engine.mjs (passes it to the wasm
// module), tests.
//
// A Peer(folder, packages), `folder` being the URL of the runtime's own files, `packages` that of the folder
// of fetched ones (packages.mjs), or null. A model with other options release or build gets a new one:
//   async open({ bytes, files, graph, converted, options, threads })
//                    a session of one of: `bytes` and `files` [{name, data}]; `graph` as
//                    core/engines/peer/graph_json.hpp has it, constants with `data`; `converted`
//                    [{name, data}], files in the runtime's own format
//   tensor(dtype, shape, buffer)   what run takes
//   async run(session, inputs, outputs, { timed })
//                    [{dtype, shape, data}] in the order of `outputs`, or { values, times?, time_ms? }:
//                    times [name of a value, milliseconds] of what made it, if `timed`
//   release(session)
//   about()                      once open, and after a run: { threads, instruction_set, device?, options };
//                    what WebGPU reports meanwhile is added as `device_errors`
//   heap()                       bytes of a heap of its own, { bytes, kind }, or null
//   failure(error, rejection)    {kind, message}; `rejection`: the kind to use if the error gives none
//   died(error)                  it cannot go on and has released everything: the next model restarts it
//   stuck                        the error if it did not start, but may start in another worker; else null
//   close()                      ends its threads

import { gpuErrorsText, takeGpuErrors, watchGpuErrors } from "./gpu_errors.mjs";

// The engine looks whether a runtime has hung (PeerSession): it must be polled although nothing has ended.
const longestWaitMs = 500;

const bytesOf = (array) => new Uint8Array(array.buffer, array.byteOffset, array.byteLength);

/** Text of ours, not of the runtime, if `own`. */
export class PeerError extends Error {
  constructor(kind, message, own = false) {
    super(message);
    this.answer = { kind, message, own };
  }
}

class Host {
  #load;
  #peer = null;
  #release = ""; // of #peer, and which build of it
  #models = new Map(); // number → {session, busy, error, result}
  #made = 0;
  #work = Promise.resolve();

  /** `load`: resolves to the Peer. */
  constructor(load) {
    this.#load = load;
  }

  close() {
    this.#peer?.close();
  }

  get settled() {
    return this.#work;
  }

  get stuck() {
    return this.#peer?.stuck ?? null;
  }

  request(head, memory) {
    const at = (place) => new Uint8Array(memory.buffer, place.at >>> 0, place.bytes >>> 0);
    try {
      return this[`_${head.do}`](head, at);
    } catch (error) {
      return { error: this.#failure(error, "internal") };
    }
  }

  _create({ bytes, files, graph, converted, options, threads }, at) {
    const state = {
      session: null,
      busy: false,
      error: null,
      result: null,
      gpuErrors: { count: 0, first: null },
    };
    const number = ++this.#made;
    this.#models.set(number, state);
    // Copies, since the engine's heap moves when it grows.
    const request = { options: options ?? {}, threads };
    const copied = (list) => list.map((file) => ({ name: file.name, data: at(file).slice() }));
    if (graph) request.graph = withData(graph, at);
    else if (converted) request.converted = copied(converted);
    else {
      request.bytes = at(bytes).slice();
      request.files = copied(files);
    }
    this.#begin(state, "unsupported", async () => {
      const peer = await this.#peerFor(request.options);
      const session = await peer.open(request);
      if (state.given_up) await peer.release(session);
      else state.session = session;
    });
    return { model: number };
  }

  async #peerFor({ release = "", build = "" }) {
    const wanted = `${release} ${build}`;
    if (this.#peer && this.#release !== wanted) {
      this.#peer.close();
      this.#peer = null;
    }
    this.#release = wanted;
    return (this.#peer ??= await this.#load());
  }

  _run({ model, inputs, outputs, timed }, at) {
    const state = this.#models.get(model);
    const feeds = {};
    for (const { name, dtype, shape, ...place } of inputs)
      feeds[name] = this.#peer.tensor(dtype, shape, at(place).slice().buffer);
    this.#begin(state, "bad_input", async () => {
      const begin = performance.now();
      const made = await this.#peer.run(state.session, feeds, outputs, { timed: timed ?? false });
      const elapsed = performance.now() - begin;
      const { values, times = [], time_ms = elapsed } = Array.isArray(made) ? { values: made } : made;
      values.forEach(checkValue);
      state.result = {
        time_ns: nanoseconds(time_ms),
        times: times.map(([name, ms]) => [name, nanoseconds(ms)]),
        values,
      };
    });
    return {};
  }

  _look({ model }) {
    const state = this.#models.get(model);
    if (state.error) return { error: state.error };
    if (state.busy) return { busy: true };
    const about = {
      ...this.#peer.about(),
      ...(state.gpuErrors.count > 0 && { device_errors: [gpuErrorsText(state.gpuErrors)] }),
    };
    if (!state.result) return { about };
    const { time_ns, times, values } = state.result;
    return {
      about,
      time_ns,
      times,
      values: values.map(({ dtype, shape, data }) => ({ dtype, shape, bytes: data.byteLength })),
    };
  }

  _copy({ model, to }, at) {
    const state = this.#models.get(model);
    state.result.values.forEach(({ data }, i) => at(to[i]).set(bytesOf(data)));
    state.result = null;
    return {};
  }

  _heap() {
    const heap = this.#peer?.heap() ?? null;
    return typeof heap === "object" && heap !== null ? heap : { bytes: heap };
  }

  _release({ model }) {
    const state = this.#models.get(model);
    this.#models.delete(model);
    if (state?.busy) {
      // It hangs, or nobody waits for it: the next model gets a runtime of its own.
      state.given_up = true;
      this.#peer?.close();
      this.#peer = null;
      this.#work = Promise.resolve();
    } else if (state)
      this.#work = this.#work
        .then(() => state.session !== null && this.#peer.release(state.session))
        .catch(() => {});
    return {};
  }

  #begin(state, rejection, action) {
    state.busy = true;
    const work = this.#work.then(takeGpuErrors).then(action);
    this.#work = work.catch((error) => {
      state.error = this.#failure(error, rejection);
      this.#peer?.died(error);
    });
    this.#work = this.#work.then(() => {
      const { count, first } = takeGpuErrors();
      state.gpuErrors = { count: state.gpuErrors.count + count, first: state.gpuErrors.first ?? first };
      state.busy = false;
    });
  }

  #failure(error, rejection) {
    if (error instanceof PeerError) return error.answer;
    return (
      this.#peer?.failure(error, rejection) ?? { kind: rejection, message: String(error?.message ?? error) }
    );
  }
}

const nanoseconds = (milliseconds) => Math.max(0, Math.round(milliseconds * 1e6));

// What a runtime returns is described to C++, which relies on it.
function checkValue({ dtype, shape, data }, i) {
  const sizes = Array.isArray(shape) && shape.every((size) => Number.isSafeInteger(size) && size >= 0);
  if (typeof dtype !== "string" || !sizes || !ArrayBuffer.isView(data))
    throw new Error(`value ${i} came as ${dtype} of shape ${JSON.stringify(shape)}, without usable data`);
}

// The graph with copies of the bytes that its constants and attributes refer to.
function withData(value, at) {
  if (Array.isArray(value)) return value.map((item) => withData(item, at));
  if (value === null || typeof value !== "object") return value;
  if (typeof value.at === "number" && typeof value.bytes === "number") {
    const { dtype, shape } = value;
    return { dtype, shape, data: at(value).slice() };
  }
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, withData(item, at)]));
}

function within(work, limitMs) {
  let timer;
  const limit = new Promise((resolve) => (timer = setTimeout(resolve, limitMs)));
  return Promise.race([work, limit]).finally(() => clearTimeout(timer));
}

export class Peers {
  #base;
  #folder;
  #packages;
  #hosts = new Map();

  /**
   * `base`: URL of a file beside each runtime's folder NAME/; `adapters`: where NAME/NAME.mjs are;
   * `packages`: where fetched packages are, or null.
   */
  constructor(base, adapters = import.meta.url, packages = new URL("../packages/", base)) {
    this.#base = base;
    this.#folder = adapters;
    this.#packages = packages;
  }

  /** `memory` is that of the engine; requests contain addresses in it, and the peer's name. */
  request({ peer, ...head }, memory) {
    if (!this.#hosts.has(peer)) this.#hosts.set(peer, new Host(() => this.#load(peer)));
    return this.#hosts.get(peer).request(head, memory);
  }

  /** Resolves when no work is in progress, or after a while: then the engine should poll again. */
  settled() {
    return this.idle(longestWaitMs);
  }

  /** Resolves when no work is in progress, or after so long. */
  idle(limitMs = Infinity) {
    const idle = Promise.all([...this.#hosts.values()].map((host) => host.settled));
    return limitMs === Infinity ? idle : within(idle, limitMs);
  }

  /** The error of a runtime that could not be started by any means; another worker may succeed. */
  get stuck() {
    return [...this.#hosts.values()].map((host) => host.stuck).find((stuck) => stuck !== null) ?? null;
  }

  /** Ends their threads. */
  close() {
    for (const host of this.#hosts.values()) host.close();
  }

  async #load(name) {
    watchGpuErrors();
    const { Peer } = await import(new URL(`./${name}/${name}.mjs`, this.#folder).href).catch((error) => {
      const message = `the site lacks what drives ${name} (${error.message}); build it again`;
      throw new PeerError("missing", message, true);
    });
    return new Peer(new URL(`../${name}/`, this.#base), this.#packages);
  }
}
