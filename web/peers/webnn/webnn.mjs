// WebNN for peers.mjs: an MLGraph built from our graph; every value to capture is one of its outputs. The
// browser chooses what computes it, and shows neither times of operators nor its memory.
import { PeerError } from "../peers.mjs";
import { operators } from "./operators.mjs"; // made by core/engines/webnn/engine.cmake
import { Session } from "./session.mjs";

const browserVersion = () => navigator.userAgent.match(/(Chrome|Firefox|Version)\/[\d.]+/)?.[0] ?? "unknown";

export class Peer {
  #contexts = new Map(); // options → Promise of an MLContext
  #lost = null; // why the last context was lost
  #devices = "";
  #calls = "";
  stuck = null;

  async open({ graph, options: { device = "cpu", power = "default", calls = "off" } }) {
    const context = await this.#context(device, power);
    const session = await Session.open(context, graph, operators, calls === "on");
    this.#devices = session.devices;
    this.#calls = session.calls;
    return session;
  }

  tensor(dtype, shape, buffer) {
    return { dtype, shape, buffer };
  }

  run(session, inputs, outputs) {
    return session.run(inputs, outputs);
  }

  release(session) {
    session.close();
  }

  about() {
    const options = { version: browserVersion() };
    if (this.#devices) options.devices = this.#devices;
    if (this.#calls) options.calls = this.#calls;
    const device = this.#devices.toUpperCase().replaceAll(" ", ", "); // "GPU, CPU"
    return { threads: 1, instruction_set: "of the browser", options, ...(device && { device }) };
  }

  heap() {
    return null;
  }

  failure(error, rejection) {
    const message = error?.message ?? String(error);
    if (this.#lost !== null)
      return {
        kind: "internal",
        message: `${message}; its context was lost: ${this.#lost || "no reason given"}`,
      };
    const limit = error instanceof RangeError || /out of memory|allocat/i.test(message);
    return { kind: limit ? "limit" : rejection, message };
  }

  /** After a lost context the next model gets a new one. */
  died() {
    if (this.#lost === null) return;
    this.#lost = null;
    this.#contexts.clear();
  }

  close() {
    for (const context of this.#contexts.values()) context.then((made) => made.destroy?.()).catch(() => {});
    this.#contexts.clear();
  }

  #context(device, power) {
    const key = `${device} ${power}`;
    if (!this.#contexts.has(key)) this.#contexts.set(key, this.#create(key, device, power));
    return this.#contexts.get(key);
  }

  async #create(key, deviceType, powerPreference) {
    if (!navigator.ml) {
      const message =
        "this browser has no WebNN (navigator.ml); a Chromium with it, started with " +
        "--enable-features=WebMachineLearningNeuralNetwork, has";
      throw new PeerError("missing", message, true);
    }
    try {
      const context = await navigator.ml.createContext({ deviceType, powerPreference });
      context.lost?.then((info) => {
        if (this.#contexts.delete(key)) this.#lost = info?.message ?? "";
      });
      return context;
    } catch (error) {
      this.#contexts.delete(key);
      throw new PeerError("missing", `no context for ${deviceType}: ${error.message}`);
    }
  }
}
