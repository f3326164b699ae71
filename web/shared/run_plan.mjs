// What a run plan means for whoever carries it out. Clients: engine.mjs, pc_runs.mjs.

/** Whether the model runs again after the watched run: its weights are then read once more. */
export const runsAgain = ({ unwatched_ms = 0, memory_runs = 0 }) => unwatched_ms > 0 || memory_runs > 0;
