// Clients: worker.mjs, bench.mjs.

/** Resolves after so many milliseconds, in which other events are handled. */
export const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
