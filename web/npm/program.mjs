// Finds the driftscope program and runs it. Clients: compare.mjs, bin.mjs.
import { spawn } from "node:child_process";
import { accessSync, constants, existsSync, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The program's error message. */
export class DriftscopeError extends Error {
  constructor(message, { exitCode, stderr = "", command = [] } = {}) {
    super(message);
    this.name = "DriftscopeError";
    this.exitCode = exitCode;
    this.stderr = stderr;
    this.command = command;
  }
}

function isProgram(path) {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** The URL of the program that comes with this package; null in a clone, which has the native one. */
export function ownProgram() {
  const url = new URL("program/bin.mjs", import.meta.url);
  return existsSync(url) ? url.href : null;
}

/**
 * The native program: `given`, else $DRIFTSCOPE, else `driftscope` on the PATH, else the build of the clone
 * around this file, else an installed one.
 */
export function findProgram(given = process.env.DRIFTSCOPE) {
  if (given) {
    if (isProgram(given)) return given;
    throw new DriftscopeError(
      `${given} is not a program that can be run; see the option "program" and $DRIFTSCOPE`,
      {
        exitCode: 3,
      },
    );
  }
  const folders = (process.env.PATH ?? "").split(delimiter).filter(Boolean);
  // A package manager puts our own bin.mjs on the PATH under this name.
  const found = folders
    .filter((folder) => !folder.endsWith(join("node_modules", ".bin")))
    .map((folder) => join(folder, "driftscope"))
    .concat(
      // Of the clone around this file, or the installation that it came with (share/driftscope/npm).
      fileURLToPath(new URL("../../build/native/driftscope", import.meta.url)),
      fileURLToPath(new URL("../../../bin/driftscope", import.meta.url)),
      "/usr/local/bin/driftscope",
      "/usr/bin/driftscope",
    )
    .find(isProgram);
  if (found) return found;
  throw new DriftscopeError(
    "the driftscope program was not found: install its package or build it (tools/demo in its clone) and " +
      'put it on the PATH, or name it with $DRIFTSCOPE or the option "program"',
    { exitCode: 3 },
  );
}

/** Runs it to the end: {exitCode, stdout, stderr, command}. Never rejects for an exit code. */
export function runProgram(args, { program, cwd, env, signal } = {}) {
  const own = program || process.env.DRIFTSCOPE ? null : ownProgram();
  const command = [...(own ? [process.execPath, fileURLToPath(own)] : [findProgram(program)]), ...args];
  return new Promise((resolve, reject) => {
    const child = spawn(command[0], command.slice(1), {
      cwd,
      env: { ...process.env, NO_COLOR: "1", ...env },
      stdio: ["ignore", "pipe", "pipe"],
      signal,
    });
    const parts = { stdout: [], stderr: [] };
    for (const stream of ["stdout", "stderr"]) child[stream].on("data", (data) => parts[stream].push(data));
    child.on("error", reject);
    child.on("close", (code, killedBy) => {
      const text = (stream) => Buffer.concat(parts[stream]).toString("utf8");
      resolve({
        exitCode: code ?? (killedBy ? 130 : 1),
        stdout: text("stdout"),
        stderr: text("stderr"),
        command,
      });
    });
  });
}
