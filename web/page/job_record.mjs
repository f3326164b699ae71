// Where a device's job is, in the browser's own storage: all that is known once the page was ended without a
// word. Client: device.mjs.
import { root } from "./choice.mjs";

const writeMs = 400;

// Of this device alone: its segment is in the path.
const lostKey = `driftscope job under way ${root.pathname}`;

/** Where a job is, kept so that it is known after the page was ended without a word. */
export class JobRecord {
  #state = null;
  #writtenAt = 0;

  /** What an ended page has left; null: nothing. */
  static lost() {
    try {
      return JSON.parse(localStorage.getItem(lostKey));
    } catch {
      return null;
    }
  }

  static forget() {
    localStorage.removeItem(lostKey);
  }

  begin(job) {
    const state = (this.#state = { job, phase: "open", hidden: document.hidden });
    this.#write();
    // It may take the browser half a minute, until it collects garbage.
    const measured = self.crossOriginIsolated && performance.measureUserAgentSpecificMemory?.();
    measured?.then(({ bytes }) => (state.memory_bytes = bytes)).catch(() => {});
  }

  change({ phase, done, total, sample, samples }) {
    if (!this.#state || phase === "fetch") return; // whose total is bytes
    const isNew = phase !== undefined && phase !== this.#state.phase;
    Object.assign(this.#state, isNew ? { phase } : {}, { hidden: document.hidden });
    for (const [name, value] of Object.entries({ done, total, sample, samples }))
      if (Number.isInteger(value)) this.#state[name] = value;
    if (isNew || performance.now() - this.#writtenAt > writeMs) this.#write();
  }

  end() {
    this.#state = null;
    JobRecord.forget();
  }

  #write() {
    this.#writtenAt = performance.now();
    try {
      localStorage.setItem(lostKey, JSON.stringify(this.#state));
    } catch {
      // Full, or forbidden: then a lost page is only silent.
    }
  }
}
