// Third-party runtimes in the engine's worker: requests of web/peers/bridge.cpp get an immediate response;
// longer work continues in the event loop, see settled(). Code specific to a runtime: NAME/NAME.mjs, whose
// class `Peer` is loaded with the first model for it. Clients: engine.mjs (passes it to the wasm
// module), tests.
//
// A Peer(folder), `folder` being the URL of the runtime's own files:
//   async open({ bytes, files, graph, options, threads })  a session; `bytes` and `files` [{name, data}], or
//                                `graph` as core/engines/peer/graph_json.hpp has it, constants with `data`
//   tensor(dtype, shape, buffer)                           what run takes
//   async run(session, inputs, outputs)                    [{dtype, shape, data}] in the order of `outputs`
//   release(session)
//   about()                      once open: { threads, instruction_set, options }, for the trace
//   heap()                       bytes of a heap of its own, or null
//   failure(error, rejection)    {kind, message}; `rejection`: the kind to use if the error gives none
//   died(error)                  it cannot go on and has released everything: the next model restarts it
//   stuck                        the error if it did not start, but may start in another worker; else null
//   close()                      ends its threads

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

  _create({ bytes, files, graph, options, threads }, at) {
    const state = { session: null, busy: false, error: null, result: null };
    const number = ++this.#made;
    this.#models.set(number, state);
    // Copies, since the engine's heap moves when it grows.
    const request = { options: options ?? {}, threads };
    if (graph) request.graph = withData(graph, at);
    else {
      request.bytes = at(bytes).slice();
      request.files = files.map((file) => ({ name: file.name, data: at(file).slice() }));
    }
    this.#begin(state, "unsupported", async () => {
      this.#peer ??= await this.#load();
      state.session = await this.#peer.open(request);
    });
    return { model: number };
  }

  _run({ model, inputs, outputs }, at) {
    const state = this.#models.get(model);
    const feeds = {};
    for (const { name, dtype, shape, ...place } of inputs)
      feeds[name] = this.#peer.tensor(dtype, shape, at(place).slice().buffer);
    this.#begin(state, "bad_input", async () => {
      const begin = performance.now();
      const values = await this.#peer.run(state.session, feeds, outputs);
      state.result = { time_ns: Math.round((performance.now() - begin) * 1e6), values };
    });
    return {};
  }

  _look({ model }) {
    const state = this.#models.get(model);
    if (state.error) return { error: state.error };
    if (state.busy) return { busy: true };
    const about = this.#peer.about();
    if (!state.result) return { about };
    const { time_ns, values } = state.result;
    return {
      about,
      time_ns,
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
    return { bytes: this.#peer?.heap() ?? null };
  }

  _release({ model }) {
    const state = this.#models.get(model);
    this.#models.delete(model);
    if (state)
      this.#work = this.#work
        .then(() => state.session !== null && this.#peer.release(state.session))
        .catch(() => {});
    return {};
  }

  #begin(state, rejection, action) {
    state.busy = true;
    this.#work = this.#work.then(action).catch((error) => {
      state.error = this.#failure(error, rejection);
      this.#peer?.died(error);
    });
    this.#work = this.#work.then(() => (state.busy = false));
  }

  #failure(error, rejection) {
    if (error instanceof PeerError) return error.answer;
    return (
      this.#peer?.failure(error, rejection) ?? { kind: rejection, message: String(error?.message ?? error) }
    );
  }
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

export class Peers {
  #base;
  #folder;
  #hosts = new Map();

  /** `base`: URL of a file beside each runtime's folder NAME/; `adapters`: where NAME/NAME.mjs are. */
  constructor(base, adapters = import.meta.url) {
    this.#base = base;
    this.#folder = adapters;
  }

  /** `memory` is that of the engine; requests contain addresses in it, and the peer's name. */
  request({ peer, ...head }, memory) {
    if (!this.#hosts.has(peer)) this.#hosts.set(peer, new Host(() => this.#load(peer)));
    return this.#hosts.get(peer).request(head, memory);
  }

  /** Resolves when no work is in progress: then the engine should poll again. */
  settled() {
    return Promise.all([...this.#hosts.values()].map((host) => host.settled));
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
    const { Peer } = await import(new URL(`./${name}/${name}.mjs`, this.#folder).href).catch((error) => {
      const message = `the site lacks what drives ${name} (${error.message}); build it again`;
      throw new PeerError("missing", message, true);
    });
    return new Peer(new URL(`../${name}/`, this.#base));
  }
}
