// Requests on a network that may break. Clients: download.mjs, job.mjs, values.mjs.
import { pause } from "./pause.mjs";

const tries = 8; // over about two minutes
const firstRestMs = 500;
const longestRestMs = 30_000;

/** What `ask` resolves to; it is called again where it throws, as fetch does when no answer came. */
export async function insist(ask, signal) {
  for (let attempt = 1, restMs = firstRestMs; ; ++attempt, restMs = Math.min(2 * restMs, longestRestMs)) {
    try {
      return await ask();
    } catch (error) {
      if (signal?.aborted || error.name === "RunError" || error.kind || attempt === tries) throw error;
      await pause(restMs);
    }
  }
}
