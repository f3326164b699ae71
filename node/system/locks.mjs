// Locks between processes, for flock(2), which Node lacks: a name that only one process at a time can listen
// on, and that is free again when it ends, however it does. They do not know the locks of the native program.
import fs from "node:fs";
import net from "node:net";
import os from "node:os";
import path from "node:path";

function addressOf(name) {
  if (process.platform === "linux") return `\0driftscope-lock-${name}`; // in no folder
  if (process.platform === "win32") return `\\\\.\\pipe\\driftscope-lock-${name}`;
  return path.join(os.tmpdir(), `driftscope-lock-${name}`);
}

function listen(address) {
  return new Promise((resolve, reject) => {
    const server = net.createServer((socket) => socket.destroy());
    server.once("error", reject);
    server.listen({ path: address, exclusive: true }, () => resolve(server.unref()));
  });
}

/** Whether somebody listens there. */
function answers(address) {
  return new Promise((resolve) => {
    const socket = net.connect({ path: address });
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}

export class Locks {
  #held = new Map();

  /** Whether this process has it now. */
  async lock({ name }) {
    if (this.#held.has(name)) return false;
    const address = addressOf(name);
    for (const again of [true, false]) {
      try {
        this.#held.set(name, await listen(address));
        return true;
      } catch (error) {
        if (error.code !== "EADDRINUSE" || !address.startsWith("/") || !again || (await answers(address)))
          return false;
        fs.rmSync(address, { force: true }); // left by a process that was killed
      }
    }
    return false;
  }

  unlock({ name }) {
    this.#held.get(name)?.close();
    this.#held.delete(name);
  }
}
