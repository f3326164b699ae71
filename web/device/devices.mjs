// The GPUs of a browser for the engine in the same worker: requests of web/device/web_device.cpp, answered at
// once; longer work continues in the event loop, see settled(). Clients: engine.mjs (hands it to the wasm
// module), tests.
import { PageDevice } from "./page_devices.mjs";
import { hasWebGl2, WebGlDevice } from "./webgl.mjs";
import { WebGpuDevice } from "./webgpu.mjs";

export class Devices {
  #gpu;
  #page;
  #webgl;
  #devices = new Map();

  /** `gpu`: navigator.gpu. `page`: a port to serveDevices (page_devices.mjs), for a worker without WebGL. */
  constructor({ gpu = globalThis.navigator?.gpu, page } = {}) {
    this.#gpu = gpu;
    this.#page = page;
  }

  /** Of "webgpu" or "webgl". */
  available(api) {
    if (api === "webgpu") return Boolean(this.#gpu);
    this.#webgl ??= hasWebGl2();
    return this.#webgl || Boolean(this.#page);
  }

  #open(api) {
    if (api === "webgpu") return new WebGpuDevice(this.#gpu);
    return this.#webgl ? new WebGlDevice() : new PageDevice(this.#page);
  }

  /** `memory` is that of the engine; a request names a place in it. */
  request({ do: what, device, at, size, ...head }, memory) {
    if (what === "available") return { available: this.available(head.api) };
    try {
      if (what === "open") {
        this.#devices.set(device, this.#open(head.api));
        return {};
      }
      const it = this.#devices.get(device);
      if (what === "close") {
        it?.close();
        this.#devices.delete(device);
        return {};
      }
      // GPUs take no views of shared memory.
      const place = at === undefined ? undefined : new Uint8Array(memory.buffer, at >>> 0, size >>> 0);
      const data = what === "read" ? place : place?.slice();
      return it[what]({ ...head, data });
    } catch (error) {
      return { error: { kind: "internal", message: `the browser's GPU says: ${error.message}` } };
    }
  }

  /** Resolves when something that was under way has ended: a look may say more. */
  settled() {
    return Promise.all([...this.#devices.values()].flatMap((device) => device.work));
  }

  close() {
    for (const device of this.#devices.values()) device.close();
  }
}
