// Starts Driftscope in a folder of its own and reports what it leaves behind.
import { spawn } from "node:child_process";
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

import { processesOf } from "./watch/procfs.mjs";

let count = 0;

/**
 * A run of the command line: {child, output, done, folder, tmp}. `wrap` is a command that starts it (prlimit,
 * unshare); `done` resolves to {status, signal, stdout, stderr, seconds}. Hanging longer than `limit`
 * milliseconds is an error.
 */
export function launch(soak, args, { wrap = [], env = {}, limit = 180_000, folder, program } = {}) {
  folder ??= soak.folder(`c${++count}`);
  const tmp = join(folder, "tmp");
  const [file, ...rest] = [...wrap, program ?? soak.program, ...args];
  const began = performance.now();
  const child = soak.own(
    spawn(file, rest, {
      cwd: folder,
      detached: true, // a group of its own
      env: { ...soak.environment, TMPDIR: tmp, XDG_DATA_HOME: join(folder, "data"), ...env },
      stdio: ["ignore", "pipe", "pipe"],
    }),
  );
  const output = { stdout: "", stderr: "" };
  child.stdout.on("data", (data) => (output.stdout += data));
  child.stderr.on("data", (data) => (output.stderr += data));
  const done = new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      const seen = processesOf(folder).map(({ pid, state, line }) => `${pid} ${state} ${line.slice(0, 160)}`);
      kill(child, "SIGKILL");
      const error = new Error(`hangs: no end within ${limit / 1000} s: ${args.join(" ")}`);
      error.log = `${output.stdout}\n${output.stderr}\n${seen.join("\n")}`;
      reject(error);
    }, limit);
    child.once("error", reject);
    child.once("close", (status, signal) => {
      clearTimeout(timer);
      resolve({ status, signal, ...output, seconds: (performance.now() - began) / 1000 });
    });
  });
  done.catch(() => {});
  return { child, output, done, folder, tmp };
}

function kill(child, signal) {
  try {
    process.kill(-child.pid, signal);
  } catch {
    child.kill(signal);
  }
}

/** What is left of a run after some seconds, as text; empty: nothing. `allowed` processes do not count. */
export async function leftBehind(soak, { folder, tmp }, { seconds = 10, files = true, allowed } = {}) {
  const look = () => {
    const processes = processesOf(folder)
      .filter((one) => !allowed?.(one))
      .map(({ pid, state, line }) => `${pid} ${state} ${line.slice(0, 200)}`);
    const entries = files && existsSync(tmp) ? readdirSync(tmp) : [];
    return [...processes, ...entries.map((name) => `file ${name}`)].join("\n");
  };
  const end = performance.now() + 1000 * seconds;
  for (let left = look(); ; left = look()) {
    if (!left || performance.now() > end || soak.ended) return left;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

/** Ends what a run has left behind and removes its folder. */
export function clearAway({ folder }) {
  for (const { pid } of processesOf(folder))
    try {
      process.kill(pid, "SIGKILL");
    } catch {}
  rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
}

/** Waits until `condition()` is truthy and returns it; an error after `limit` milliseconds. */
export async function until(condition, what, limit = 60_000) {
  const end = performance.now() + limit;
  while (true) {
    const value = await condition();
    if (value) return value;
    if (performance.now() > end) throw new Error(`waited ${limit / 1000} s in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
