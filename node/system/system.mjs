// What the program asks of Node beside files: Module["system"] of system.js.
import { spawn } from "node:child_process";
import os from "node:os";
import { Locks } from "./locks.mjs";
import { Processes } from "./processes.mjs";
import { Sockets } from "./sockets.mjs";

export class System {
  sockets = new Sockets();
  processes = new Processes(this.sockets);
  locks = new Locks();

  /** Answers a question of C++: { do: name, … }. */
  async ask(question) {
    switch (question.do) {
      case "machine":
        return this.#machine();
      case "hasXWindows":
        return !["darwin", "win32"].includes(process.platform);
      case "openWithDesktop":
        return this.#openWithDesktop(question);
      case "lock":
        return this.locks.lock(question);
      case "unlock":
        return this.locks.unlock(question);
      default:
        return this.processes[question.do](question);
    }
  }

  /** Whether a program of the desktop has taken it. */
  #openWithDesktop({ url }) {
    const [program, ...args] = { darwin: ["open", url], win32: ["cmd", "/c", "start", "", url] }[
      process.platform
    ] ?? ["xdg-open", url];
    return new Promise((resolve) => {
      const child = spawn(program, args, { detached: true, stdio: "ignore", windowsHide: true });
      child.once("error", () => resolve(false));
      child.once("spawn", () => resolve(true));
      child.unref();
    });
  }

  #machine() {
    const processors = os.cpus();
    return {
      processor: processors[0]?.model ?? "unknown processor",
      memory: os.totalmem(),
      free: os.freemem(),
      system: `${os.type()} ${os.release()} ${os.arch()}`,
      host: os.hostname(),
      node: process.version,
    };
  }
}
