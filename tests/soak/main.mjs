// tools/soak: starts the subjects, strikes them, watches, and says what was abnormal.
import { existsSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";

import { asset } from "../e2e/support.mjs";
import { chaosLoops, loadFaults } from "./chaos.mjs";
import { clearAway, launch } from "./programs.mjs";
import { WrongUse, readOptions } from "./options.mjs";
import { report } from "./report.mjs";
import { Soak } from "./soak.mjs";
import { CommandLine } from "./subjects/command_line.mjs";
import { Page } from "./subjects/page.mjs";
import { Server } from "./subjects/server.mjs";
import { Window } from "./subjects/window.mjs";
import { limited } from "./subject.mjs";
import { processesOf } from "./watch/procfs.mjs";
import { Sampler } from "./watch/sampler.mjs";

// In the order of their starts: the page is the server's.
const kinds = [
  ["server", Server],
  ["page", Page],
  ["window", Window],
  ["command line", CommandLine],
];
const exit = { nothing: 0, found: 1, wrongUse: 2, missing: 3 };

/** Names of the subjects and the faults that `only` leaves. */
function chosen(only, faults) {
  const matches = (name) => only.some((part) => name.includes(part));
  const subjects = new Set(kinds.map(([name]) => name).filter((name) => only.length === 0 || matches(name)));
  const left = faults.filter(
    ({ name, strikes }) => only.length === 0 || matches(name) || subjects.has(strikes),
  );
  for (const { strikes } of left) subjects.add(strikes);
  if (subjects.has("page")) subjects.add("server");
  if (subjects.size === 0)
    throw new WrongUse(`--only ${only}: no subject or fault is called that; see --list`);
  return { subjects, faults: left };
}

async function list(soak, faults) {
  for (const [name] of kinds) {
    console.log(name);
    for (const fault of faults.filter(({ strikes }) => strikes === name)) {
      const reason = await fault.lacks(soak);
      console.log(`  ${fault.name}${reason ? `: not here, ${reason}` : ""}`);
    }
  }
}

/** A trace for all to verify, to send and to open. */
async function makeTrace(soak) {
  const args = ["run", asset("models", "lenet1.onnx"), "--trace", "made.safetensors", "--quiet"];
  const run = launch(soak, args);
  const { status, stderr } = await run.done;
  if (status !== 0) throw new Error(`a first run failed: ${stderr}`);
  soak.tracePath = join(soak.work, "made.safetensors");
  renameSync(join(run.folder, "made.safetensors"), soak.tracePath);
  soak.trace = readFileSync(soak.tracePath);
  clearAway(run);
}

function startProgress(soak) {
  const line = () => {
    const { seconds } = soak.options;
    const runs = [...soak.subjects.values()].map((one) => `${one.name} ${one.runs}`).join(", ");
    const minutes = (value) => (value / 60).toFixed(1);
    return (
      `${minutes(soak.now)} of ${minutes(seconds)} min; runs: ${runs}; ${soak.faults.length} faults, ` +
      `${soak.findings.length} findings; now: ${[...soak.striking].join(", ") || "no fault"}`
    );
  };
  const terminal = process.stderr.isTTY;
  const show = () => process.stderr.write(terminal ? `\r\x1b[K${line().slice(0, 160)}` : `${line()}\n`);
  const timer = setInterval(show, terminal ? 1000 : 60_000);
  return () => {
    clearInterval(timer);
    if (terminal) process.stderr.write("\r\x1b[K");
  };
}

async function soakFor(soak, names, faults) {
  await makeTrace(soak);
  for (const [name, Kind] of kinds) if (names.has(name)) soak.subjects.set(name, new Kind(soak));
  for (const subject of soak.subjects.values()) {
    soak.event(`starting the ${subject.name}`);
    await limited(subject.start(), 120_000, `the start of the ${subject.name}`);
  }
  const sampler = new Sampler(soak);
  const stopProgress = startProgress(soak);
  const timer = setTimeout(() => soak.end(), 1000 * soak.options.seconds);
  const loops = [...soak.subjects.values()].map((subject) => subject.loop());
  loops.push(sampler.loop());
  if (soak.options.chaos) loops.push(chaosLoops(soak, faults));
  const ended = Promise.all(loops);
  // What a run waits for may never come when all else ends.
  const late = soak.untilEnded().then(() => new Promise((resolve) => setTimeout(resolve, 15_000)));
  await Promise.race([ended, late]).catch((error) => {
    soak.find("soak", `the soak itself failed: ${error.message}`, error.stack);
    soak.end();
  });
  clearTimeout(timer);
  stopProgress();
  return sampler;
}

/** Ends everything; what is left then is a finding. */
async function endAll(soak) {
  for (const subject of [...soak.subjects.values()].reverse())
    await limited(subject.end(), 30_000, `the end of the ${subject.name}`).catch((error) =>
      soak.find(subject.name, error.message),
    );
  const end = performance.now() + 10_000;
  let left = processesOf(soak.work);
  while (left.length > 0 && performance.now() < end) {
    await new Promise((resolve) => setTimeout(resolve, 200));
    left = processesOf(soak.work);
  }
  if (left.length > 0 && !soak.interrupted)
    soak.find(
      "soak",
      "processes are left after the end",
      left.map(({ pid, state, line }) => `${pid} ${state} ${line}`).join("\n"),
    );
  soak.killChildren();
  for (const { pid } of left)
    try {
      process.kill(pid, "SIGKILL");
    } catch {}
}

async function main() {
  const options = readOptions(process.argv.slice(2));
  if (options.help) return console.log(options.help) ?? exit.nothing;
  const all = await loadFaults();
  const { subjects, faults } = chosen(options.only, all);
  const soak = new Soak(options);
  try {
    if (options.list) return (await list(soak, all)) ?? exit.nothing;
    for (const program of [soak.program, soak.window, soak.environment.DRIFTSCOPE_SITE])
      if (!existsSync(program)) {
        console.error(`${program} is missing: build the presets native and web (HACKING.md)`);
        return exit.missing;
      }
    console.error(`seed ${options.seed}; results in ${soak.out}`);
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"])
      process.on(signal, () => {
        if (soak.interrupted) soak.killChildren();
        soak.interrupted = signal;
        soak.end();
      });
    process.on("exit", () => soak.killChildren());
    process.on("unhandledRejection", (error) => {
      if (!soak.ended) throw error; // else of a run that was given up
    });
    const sampler = await soakFor(soak, subjects, faults);
    await endAll(soak);
    console.log(report(soak, sampler.judged()));
    if (soak.interrupted) return 130;
    return soak.findings.length > 0 ? exit.found : exit.nothing;
  } finally {
    soak.killChildren();
    soak.removeWork();
  }
}

try {
  process.exit(await main());
} catch (error) {
  if (!(error instanceof WrongUse)) throw error;
  console.error(`${error.message}\nSee tools/soak --help.`);
  process.exit(exit.wrongUse);
}
