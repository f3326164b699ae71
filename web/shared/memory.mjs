// Error messages for running out of memory. Clients: worker.mjs, runner.mjs.

const most = 2 ** 32; // of WebAssembly with 32-bit addresses

const gib = (bytes) => `${(bytes / 2 ** 30).toFixed(bytes < 2 ** 30 ? 2 : 1)} GiB`;

const wayOut =
  "Run it on the PC (driftscope run MODEL --target pc/strict), with a smaller batch or with fewer threads.";

/** Whether a worker's error means out of memory: of the service, an allocation in a script, or wasm. */
export const isOutOfMemory = ({ kind, name, message }) =>
  kind === "limit" ||
  name === "RangeError" ||
  /out of memory|\bOOM\b|memory access out of bounds|allocat/i.test(message ?? "");

/** `heap`: size of the engine's memory in bytes, 0 when there is no engine yet. */
export function outOfMemoryText(message, heap) {
  const taken = heap > 0 ? ` The engine had taken ${gib(heap)}; a browser gives it up to ${gib(most)}.` : "";
  return `${message.replace(/\.?$/, ".")}${taken} ${wayOut}`;
}
