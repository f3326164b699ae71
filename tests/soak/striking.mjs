// What faults of the command line have in common: a run in a folder of its own that is struck on its way,
// what must hold afterwards, and the next run in the same place.
import { readdirSync } from "node:fs";
import { join } from "node:path";

import { asset } from "../e2e/support.mjs";
import { clearAway, launch, leftBehind, until } from "./programs.mjs";
import { processesOf } from "./watch/procfs.mjs";

export const model = (name) => asset("models", `${name}.onnx`);

/** An error with an excerpt of what was printed. */
export function failure(what, { stdout = "", stderr = "" } = {}) {
  return Object.assign(new Error(what), { log: `${stdout}\n${stderr}` });
}

export const exitText = (ended) => (ended.signal ? `signal ${ended.signal}` : `exit code ${ended.status}`);

/** A long run of `host`, which a fault strikes once it computes. */
export const longRun = (host, ...more) => [
  "compare",
  model("resnet20"),
  "--right",
  `${host}/strict,pc/strict:threads=1`,
  "--repeat",
  "150",
  "--json",
  "out.json",
  ...more,
];

export const untilRunning = (run, host, limit = 120_000) =>
  until(
    () => {
      if (run.child.exitCode !== null) throw failure("ended before the fault", run.output);
      return run.output.stderr.includes(`${host}/strict: running`);
    },
    `${host} to run`,
    limit,
  );

/** The processes of a run's browser: "browser", "renderer", "gpu". */
export function browserProcesses(folder, part) {
  const inside = processesOf(folder).filter(({ line }) =>
    /chromium|firefox|MiniBrowser|WebKit\w+Process/.test(line.split(" ")[0]),
  );
  const kinds = {
    browser: ({ line }) => !/--type=|-contentproc|Web(Process|KitNetworkProcess)/.test(line),
    renderer: ({ line }) => /--type=renderer|-contentproc.* tab$|WebKitWebProcess/.test(line),
    gpu: ({ line }) => /--type=gpu-process|-contentproc.* gpu$/.test(line),
    every: () => true,
  };
  return inside.filter(kinds[part]);
}

export function signal(processes, name) {
  for (const { pid } of processes)
    try {
      process.kill(pid, name);
    } catch {}
  return processes.length;
}

/** Nothing may be left of a run, no unfinished file; then a good run must work there. Removes the folder. */
export async function afterwards(soak, run, { nextArgs, killed = false } = {}) {
  try {
    // Chromium's crash handler may outlive a program that was killed, and so may what a fault has stopped:
    // the next run ends them. (A Chromium with the option to start no handler loses its network service at
    // random.)
    const outlives = ({ line, state }) => state === "T" || line.includes("chrome_crashpad_handler");
    const allowed = killed ? outlives : undefined;
    const left = await leftBehind(soak, run, { files: !killed, allowed });
    if (left) throw failure("leaves something behind", { stdout: left });
    const unfinished = readdirSync(run.folder).filter((name) => /\.tmp|\.part|~$/.test(name));
    if (unfinished.length > 0 && !killed) throw failure(`unfinished files: ${unfinished}`);
    // The next one also removes the temporary folder of one that was killed.
    const next = launch(soak, nextArgs ?? ["compare", model("lenet1"), "--right", "chrome/strict"], {
      folder: run.folder,
    });
    const ended = await next.done;
    if (ended.status !== 0) throw failure(`the next run: ${exitText(ended)}`, ended);
    const stillThere = await leftBehind(soak, next);
    if (stillThere) throw failure("after the next run something is left", { stdout: stillThere });
  } finally {
    clearAway(run);
  }
}

export const file = (run, name) => join(run.folder, name);
