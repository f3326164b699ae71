// Errors of WebGPU that a runtime does not ask for: whatever failed leaves its buffers as they were, mostly
// zeros, and the runtime goes on. Every device that is opened in this worker is watched. Client: peers.mjs.

const longest = 400; // characters of a message; some quote a whole shader
const seen = new WeakSet(); // prototypes that are watched
let heard = { count: 0, first: null }; // since the last call of takeGpuErrors

/** Before a runtime is loaded. */
export function watchGpuErrors(Adapter = globalThis.GPUAdapter) {
  const prototype = Adapter?.prototype;
  if (!prototype || seen.has(prototype)) return;
  seen.add(prototype);
  const { requestDevice } = prototype;
  prototype.requestDevice = async function (...given) {
    const device = await requestDevice.apply(this, given);
    device.addEventListener("uncapturederror", ({ error }) => {
      heard = { count: heard.count + 1, first: heard.first ?? String(error.message) };
    });
    return device;
  };
}

/** {count, first}: how many errors were reported since the last call, and the first one's message or null. */
export function takeGpuErrors() {
  const taken = heard;
  heard = { count: 0, first: null };
  return taken;
}

/** The errors of one model as a sentence, the same for a single one and for many but for the number. */
export function gpuErrorsText({ count, first }) {
  const line = first.replace(/[\s\p{Cc}]+/gu, " ").trim();
  const text = line.length > longest ? `${line.slice(0, longest)}…` : line;
  return `errors of WebGPU: ${count}, the first: ${text}`;
}
