// WebGL for workers that have none (WebKitGTK): the page executes what their engine asks for, in slices that
// leave the page responsive. PageDevice is the worker's side, serveDevices the page's. Requests go one way
// and are numbered; states come back. Clients: devices.mjs, worker/runner.mjs.
import { turn, WebGlDevice } from "./webgl.mjs";

const sliceMs = 8;
const eagerTurns = 200;

/** In a worker: a device with the interface of WebGlDevice, at the other end of `port`. */
export class PageDevice {
  #port;
  #asked = 0; // requests that change what look() says
  #state = { seen: 0, ready: false, compiled: 0, facts: null };
  #error = null;
  #recordings = new Map();
  #waiting = []; // those who want to know of any news

  constructor(port) {
    this.#port = port;
    port.onmessage = ({ data: { state, recording, ended } }) => {
      if (state) this.#state = state;
      this.#error ??= state?.error ?? ended?.error ?? null;
      if (recording !== undefined) Object.assign(this.#recordings.get(recording) ?? {}, ended);
      for (const resolve of this.#waiting.splice(0)) resolve();
    };
    this.#send({ do: "open" });
  }

  #send(request, transfer = []) {
    this.#port.postMessage({ ...request, asked: ++this.#asked }, transfer);
  }

  get #busy() {
    const running = [...this.#recordings.values()].some(({ done }) => !done);
    return running || this.#state.seen < this.#asked || !this.#state.ready;
  }

  get work() {
    if (this.#error || !this.#busy) return [];
    return [new Promise((resolve) => this.#waiting.push(resolve))];
  }

  look() {
    if (this.#error) return { error: this.#error, lost: true };
    const { seen, compiled, facts } = this.#state;
    return { ready: this.#state.ready && seen === this.#asked, compiled, facts };
  }

  #forward(what, request) {
    const data = request.data && request.data.slice();
    this.#send({ do: what, ...request, data }, data ? [data.buffer] : []);
    return this.#error ? { error: this.#error } : {};
  }

  object = (request) => this.#forward("object", request);
  release_object = (request) => this.#forward("release_object", request);
  write = (request) => this.#forward("write", request);
  program = (request) => this.#forward("program", request);

  record(request) {
    this.#recordings.set(request.id, { done: true });
    return this.#forward("record", request);
  }

  release_recording(request) {
    this.#recordings.delete(request.recording);
    return this.#forward("release_recording", request);
  }

  submit(request) {
    Object.assign(this.#recordings.get(request.recording), { done: false, times: [], bytes: null });
    return this.#forward("submit", request);
  }

  finished({ recording }) {
    if (this.#error) return { error: this.#error, lost: true };
    const { done, times } = this.#recordings.get(recording);
    return { done, times };
  }

  read({ recording, offset, data }) {
    data.set(this.#recordings.get(recording).bytes.subarray(offset, offset + data.length));
    return {};
  }

  /** The page closes it when another one is opened, or the worker ends. */
  close() {
    this.#recordings.clear();
  }
}

const pause = () => new Promise((resolve) => setTimeout(resolve, 0));

/** On the page: executes the requests that arrive at `port` one after the other. Returns what ends it. */
export function serveDevices(port) {
  let device = null;
  let last = Promise.resolve();
  const postState = (asked) => port.postMessage({ state: { ...device.look(), seen: asked } });
  const compiled = async (asked) => {
    for (let state = device.look(); !state.error && !state.ready; state = device.look()) await pause();
    postState(asked);
  };
  const run = async (recording) => {
    let begin = performance.now();
    for (const steps = device.steps(recording); !steps.next().done;)
      if (performance.now() - begin > sliceMs) {
        await pause();
        begin = performance.now();
      }
    let ended = device.finished({ recording });
    for (let turns = 0; !ended.error && !ended.done; ended = device.finished({ recording }))
      await turn(++turns < eagerTurns);
    const bytes = ended.error ? null : device.returned(recording)?.slice();
    port.postMessage({ recording, ended: { ...ended, bytes } }, bytes ? [bytes.buffer] : []);
  };
  const execute = async ({ do: what, asked, ...request }) => {
    if (what === "open") {
      device?.close();
      device = new WebGlDevice();
    } else if (what === "submit") await run(request.recording);
    else device[what](request);
    if (what === "program") await compiled(asked);
    else postState(asked);
  };
  port.onmessage = ({ data }) => {
    last = last
      .then(() => execute(data))
      .catch(({ message }) => {
        const error = { kind: "internal", message: `WebGL on the page says: ${message}` };
        port.postMessage({ state: { error, seen: data.asked } });
      });
  };
  return () => device?.close();
}
