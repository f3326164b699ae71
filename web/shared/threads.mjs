// The workers that a WebAssembly module creates for its threads. Clients: engine.mjs, peers/*/*.mjs.
//
// Until such a worker has answered its first message, only the handlers on it refer to it, and
// Firefox considers a worker that is handling a message idle: a garbage collection at that moment terminates
// it without notice, and the module waits forever. This is inferred from what prevents the hang: a timer in
// the worker, or a reference from here.

const kept = new Set();

/** What a module waits for forever: its runtime says of such a worker that it failed, and nothing else. */
const notStarted = () =>
  Object.assign(
    new Error(
      "A thread of the engine did not start: the browser could not fetch its script, or refuses it. " +
        "Reload the page; with one thread none is needed.",
    ),
    { kind: "io" },
  );

/** Pages of `driftscope serve` over TLS: their policy allows workers of blobs. */
const servedOverTls = () =>
  globalThis.location?.protocol === "https:" && /^\/[0-9a-f]{48}\//.test(globalThis.location.pathname);

/**
 * Where workers are to load `script` from. Chromium refuses scripts of workers that another worker makes if
 * the user has vouched for the certificate of their address, and the module would wait forever; a blob has
 * none.
 */
async function placeOf(script) {
  if (!servedOverTls()) return script;
  const answer = await fetch(script);
  if (!answer.ok) return script;
  return URL.createObjectURL(new Blob([await answer.text()], { type: "text/javascript" }));
}

export class Threads {
  #workers = [];
  #places = [];

  /**
   * Calls `action`; keeps references to the workers that it creates until end(). Rejects where one of them
   * does not start. `script`: of the module, whose workers are of the same, if it has no imports.
   */
  async keep(action, script) {
    const Worker = globalThis.Worker;
    if (!Worker) return action();
    const workers = this.#workers;
    const place = script ? await placeOf(script) : undefined;
    if (place !== script) this.#places.push(place);
    let fail;
    const failed = new Promise((resolve, reject) => (fail = reject));
    globalThis.Worker = class extends Worker {
      constructor(given, options) {
        super(`${given}` === `${script}` ? place : given, options);
        workers.push(this);
        kept.add(this);
        this.addEventListener("error", () => fail(notStarted()), { once: true });
      }
    };
    try {
      return await Promise.race([action(), failed]);
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
    for (const place of this.#places) URL.revokeObjectURL(place);
    this.#places = [];
  }
}
