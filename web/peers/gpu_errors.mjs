// Errors of WebGPU that a runtime does not ask for: whatever failed leaves its buffers as they were, mostly
// zeros, and the runtime goes on. Every device that is opened in this worker is watched. Client: peers.mjs.

const longest = 400; // characters of a message; some quote a whole shader
const seen = new WeakSet(); // prototypes that are watched
const messages = [];

/** Before a runtime is loaded. */
export function watchGpuErrors(Adapter = globalThis.GPUAdapter) {
  const prototype = Adapter?.prototype;
  if (!prototype || seen.has(prototype)) return;
  seen.add(prototype);
  const { requestDevice } = prototype;
  prototype.requestDevice = async function (...given) {
    const device = await requestDevice.apply(this, given);
    device.addEventListener("uncapturederror", ({ error }) => messages.push(String(error.message)));
    return device;
  };
}

/** What was reported since the last call, as a sentence; null without any error. */
export function takeGpuErrors() {
  const [first, ...others] = messages.splice(0);
  if (first === undefined) return null;
  const line = first.trim().replace(/\s+/g, " ");
  const text = line.length > longest ? `${line.slice(0, longest)}…` : line;
  return others.length === 0
    ? `WebGPU reported an error: ${text}`
    : `WebGPU reported ${others.length + 1} errors, the first: ${text}`;
}
