// Whether a worker answers. The page asks; the answer comes from the worker's event loop, so that a long call
// there delays it as a hang does: no answer proves nothing, an answer proves that the worker waits for
// something else. Clients: runner.mjs and job.mjs on the page, worker.mjs in the worker.

/** On the page, for one worker after the other. */
export class Pulse {
  #port = null;
  #asked = false;
  #answered = 0;

  /** For a new worker; returns its end, to be transferred. */
  connect() {
    this.end();
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      this.#asked = false;
      this.answered();
    };
    this.#port = port1;
    this.#asked = false;
    this.answered();
    return port2;
  }

  /** Whatever the worker says is a sign that it lives. */
  answered() {
    this.#answered = performance.now();
  }

  /** Questions do not pile up where none is answered. */
  ask() {
    if (this.#asked || !this.#port) return;
    this.#asked = true;
    this.#port.postMessage(null);
  }

  /** Whole milliseconds since the worker was last heard of; undefined where there is none. */
  get silentMs() {
    return this.#port ? Math.round(performance.now() - this.#answered) : undefined;
  }

  end() {
    this.#port?.close();
    this.#port = null;
  }
}

/** In the worker. */
export function answer(port) {
  port.onmessage = () => port.postMessage(null);
}
