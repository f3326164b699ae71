// The time of one run of the whole model, from the "times" of what ran (core/results/run_times.hpp). Clients:
// view.mjs, history.mjs.

/** The median of the later half: the first runs warm up. */
function steady(times) {
  const later = times.slice(times.length < 2 ? 0 : Math.max(1, times.length >> 1)).sort((a, b) => a - b);
  return later[later.length >> 1] ?? 0;
}

/**
 * {ns, kind} of the reply to "finish": of unwatched runs, else of the recorded ones, else the sum of the
 * layers. A time is compared with times of its own kind alone.
 */
export function runTime({ run, layers }) {
  const { unwatched, watched_ns: watched = [] } = run.times ?? {};
  if (unwatched?.median_ns > 0) return { ns: unwatched.median_ns, kind: "unwatched" };
  if (watched.length > 0) return { ns: steady(watched), kind: "watched" };
  return { ns: layers.reduce((sum, { time_ns }) => sum + time_ns, 0), kind: "layers" };
}
