// Times of this page's runs, kept in this browser: the series of a model on a target over the engine's
// builds. Any page of this origin can write them: they are shown as texts and numbers, and decide
// nothing. Where storage is locked (private windows) or full, nothing is kept and all else works.
// Clients: page.mjs, screens.mjs, kept.mjs.
import { runTime } from "../shared/run_time.mjs";
import { fetchJson } from "./choice.mjs";

const storeName = "driftscope-history-1";
const maxRuns = 2000; // the oldest are removed

const isRun = (run) =>
  typeof run === "object" &&
  run !== null &&
  Number.isFinite(run.time_ns) &&
  run.time_ns > 0 &&
  ["title", "where", "build", "when"].every((key) => typeof run[key] === "string");

function read() {
  try {
    const runs = JSON.parse(localStorage.getItem(storeName) ?? "[]");
    return Array.isArray(runs) ? runs.filter(isRun).slice(-maxRuns) : [];
  } catch {
    return [];
  }
}

let runs = read();
let stored = true; // whether `runs` is stored
const builds = {};

/** Learns which build of an engine this site has; runs without one are of an "unknown" build. */
export async function learnBuild(variant) {
  const found = await fetchJson(`engine/${variant}.json`, { optional: true }).catch(() => null);
  builds[variant] = found?.build;
}

/**
 * Adds a run of the model with this name: `task` and the result as in runner.mjs. A run too short for
 * the browser's clock is left out. Other bytes under the same name are another model.
 */
export function addRun(name, { start, threads, variant }, { reply, model }) {
  const [target] = start.target.split(":");
  const { ns, kind } = runTime(reply);
  const kept = kind === "unwatched" ? "" : ", every layer kept";
  const run = {
    title: `${name}  ${target}  ${threads} thread${threads === 1 ? "" : "s"}${kept}`,
    where: `${reply.run.browser}, ${variant}, model ${model.model_sha256.slice(0, 8)}`,
    build: builds[variant] ?? "unknown",
    when: new Date().toISOString().replace(/\.\d+/, ""),
    time_ns: ns,
  };
  if (!isRun(run)) return;
  runs = [...(stored ? read() : runs), run].slice(-maxRuns); // other tabs write, too
  try {
    localStorage.setItem(storeName, JSON.stringify(runs));
  } catch {
    stored = false; // shown all the same until the page is closed
  }
}

/** [{title, where, builds: [{build, first_seen, times_ns}]}], each in the order of its first run. */
export function allSeries() {
  const found = new Map();
  for (const { title, where, build, when, time_ns } of runs) {
    const key = `${title}\n${where}`;
    if (!found.has(key)) found.set(key, { title, where, builds: [] });
    const series = found.get(key).builds;
    let one = series.find((other) => other.build === build);
    if (!one) series.push((one = { build, first_seen: when, times_ns: [] }));
    one.times_ns.push(time_ns);
  }
  return [...found.values()];
}

/** How many runs the browser keeps. */
export const count = () => read().length;

export function clear() {
  runs = [];
  stored = true;
  try {
    localStorage.removeItem(storeName);
  } catch {
    // Nothing was stored.
  }
}
