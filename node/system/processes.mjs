// The processes that the program starts, and the signals that it gets (node/os/child_process.cpp,
// signal_watcher.cpp).
import { spawn } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import { listProcesses, namesFolder, treeOf } from "./process_list.mjs";

const onWindows = process.platform === "win32";

// Of util-linux: what it starts is ended by the kernel when `starter` has ended, however it did.
const setpriv = process.platform === "linux" && fs.existsSync("/usr/bin/setpriv") ? "/usr/bin/setpriv" : null;
// A starter that ended before setpriv asked for this is nobody's parent any more: then nothing begins.
const unlessAlone = ["/bin/sh", "-c", '[ "$PPID" != "$0" ] || exec "$@"'];
export const endingWith = (starter, command) =>
  setpriv ? [setpriv, "--pdeathsig", "KILL", "--", ...unlessAlone, String(starter), ...command] : command;

export class Processes {
  #children = new Map();
  #sockets;

  constructor(sockets) {
    this.#sockets = sockets;
  }

  /** `spec`: arguments, environment (["A=b"]), output (a file), errorsToo, pass (a descriptor), passedAs. */
  start(spec, done) {
    let output = "ignore";
    try {
      if (spec.output) output = fs.openSync(spec.output, "a", 0o600);
      const stdio = ["ignore", output, spec.errorsToo ? output : "ignore"];
      if (spec.pass !== undefined) stdio[spec.passedAs] = "pipe";
      for (let i = 0; i < stdio.length; ++i) stdio[i] ??= "ignore";
      const [program, ...args] = endingWith(process.pid, spec.arguments);
      const child = spawn(program, args, {
        stdio,
        detached: !onWindows,
        windowsHide: true,
        env: Object.fromEntries(
          spec.environment.map((entry) => [
            entry.slice(0, entry.indexOf("=", 1)),
            entry.slice(entry.indexOf("=", 1) + 1),
          ]),
        ),
      });
      child.on("error", (error) => {
        if (child.pid === undefined) done(error.code ?? "EIO");
      });
      if (child.pid === undefined) return;
      const { pid } = child;
      const known = { result: 0 };
      this.#children.set(pid, known);
      child.once("exit", (status, signal) => {
        known.result = signal ? -(os.constants.signals[signal] ?? 9) : 1 + (status ?? 0);
      });
      if (spec.pass !== undefined) this.#sockets.give(spec.pass, child.stdio[spec.passedAs]);
      done(null, pid);
    } catch (error) {
      done(error.code ?? "EIO");
    } finally {
      if (output !== "ignore") fs.closeSync(output);
    }
  }

  state(pid) {
    return this.#children.get(pid)?.result ?? 1;
  }

  async find({ leader, marker, search }) {
    return treeOf(await listProcesses(), leader, search ? marker : "").map((one) => one.pid);
  }

  /** TERM to all, KILL after `grace` ms; whether all have ended. */
  async end({ leader, marker, grace }) {
    const gone = async (milliseconds) => {
      const until = Date.now() + milliseconds;
      for (;;) {
        const left = treeOf(await listProcesses(), leader, marker);
        if (left.length === 0 && this.state(leader) !== 0) return true;
        if (Date.now() > until) return false;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    };
    const signal = async (name) => {
      const left = treeOf(await listProcesses(), leader, marker).map((one) => one.pid);
      if (!onWindows) left.unshift(-leader);
      for (const pid of left) {
        try {
          process.kill(pid, name);
        } catch {
          // It has ended, or never had a group.
        }
      }
    };
    if (grace > 0) {
      await signal("SIGTERM");
      if (await gone(grace)) return true;
    }
    for (let attempt = 0; attempt < 10; ++attempt) {
      await signal("SIGKILL");
      if (await gone(500)) return true;
    }
    return false;
  }

  async inFolder({ folder }) {
    return (await listProcesses())
      .filter(
        (one) =>
          one.pid !== process.pid &&
          (one.carries(`TMPDIR=${folder}`) || namesFolder(one.command, "--user-data-dir=", folder)),
      )
      .map((one) => one.pid);
  }

  async memory({ pids }) {
    const wanted = new Set(pids);
    return (await listProcesses()).reduce((sum, one) => sum + (wanted.has(one.pid) ? one.memory : 0), 0);
  }

  async commandLine({ pid }) {
    return (await listProcesses()).find((one) => one.pid === pid)?.arguments ?? [];
  }

  alive({ pid }) {
    try {
      process.kill(pid, 0);
      return true;
    } catch (error) {
      return error.code === "EPERM";
    }
  }

  watchSignals(tell) {
    for (const name of ["SIGINT", "SIGTERM", "SIGHUP"])
      process.on(name, () => tell(os.constants.signals[name]));
  }

  endBySignal(number) {
    const name =
      Object.keys(os.constants.signals).find((one) => os.constants.signals[one] === number) ?? "SIGTERM";
    process.removeAllListeners(name);
    process.kill(process.pid, name);
  }
}
