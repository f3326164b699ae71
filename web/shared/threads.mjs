// The workers that a WebAssembly module creates for its threads. Clients: engine.mjs, peers/*/*.mjs.
//
// Until such a worker has answered its first message, only the handlers on it refer to it, and
// Firefox considers a worker that is handling a message idle: a garbage collection at that moment terminates
// it without notice, and the module waits forever. This is inferred from what prevents the hang: a timer in
// the worker, or a reference from here.

const kept = new Set();

export class Threads {
  #workers = [];

  /** Calls `action`; keeps references to the workers that it creates until end(). */
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

  /** For a module that is no longer used. */
  end() {
    for (const worker of this.#workers) {
      worker.terminate();
      kept.delete(worker);
    }
    this.#workers = [];
  }
}
