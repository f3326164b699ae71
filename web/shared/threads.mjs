// The workers that a WebAssembly module makes for its threads. Clients: engine.mjs, peers/*/*.mjs.
//
// Until such a worker has answered its first message, nothing refers to it but the handlers on it, and
// Firefox takes a worker that handles a message for an idle one: a collection of garbage in that moment ends
// it without notice, and the module waits forever. That is inferred from what prevents the hang: a timer in
// the worker, or a reference from here.

const kept = new Set();

export class Threads {
  #workers = [];

  /** Calls `action`; the workers that it makes stay until end(). */
  async keep(action) {
    const Worker = globalThis.Worker;
    if (!Worker) return action();
    const workers = this.#workers;
    globalThis.Worker = class extends Worker {
      constructor(...given) {
        super(...given);
        workers.push(this);
        kept.add(this);
      }
    };
    try {
      return await action();
    } finally {
      globalThis.Worker = Worker;
    }
  }

  /** For a module that nobody asks any more. */
  end() {
    for (const worker of this.#workers) {
      worker.terminate();
      kept.delete(worker);
    }
    this.#workers = [];
  }
}
