// How much memory a model may take, and error messages for running out of it. Clients: worker.mjs,
// runner.mjs, engine.mjs, page.mjs.

const maxHeap = 2 ** 32; // of WebAssembly with 32-bit addresses
// As on the PC (native/os/resource_limits.hpp): for threads, packed weights, what a graph itself takes.
const beside = 2 ** 30;

const gib = (bytes) => `${(bytes / 2 ** 30).toFixed(bytes < 2 ** 30 ? 2 : 1)} GiB`;

const wayOut =
  "Run it on the PC (driftscope run MODEL --target pc/strict), with a smaller batch or with fewer threads, " +
  "or allow more (Memory on the plain page; --max-memory where the PC asked).";

/**
 * Bytes that tensors may take together: `asked`, or half of the machine's memory, as far as the browser
 * reports it (navigator.deviceMemory, in GiB; where it does not, that of a small machine). At most what
 * leaves an engine room for all else.
 */
export function memoryBudget(asked = 0, deviceGib = globalThis.navigator?.deviceMemory) {
  const usual = ((deviceGib ?? 4) / 2) * 2 ** 30;
  return Math.min(asked > 0 ? asked : usual, maxHeap - beside);
}

/** The size at which the heap ends when tensors may take `budget` bytes. */
export const heapLimit = (budget) => Math.min(budget + beside, maxHeap - 2 ** 16);

const memoryErrors = [
  /out of memory|\bOOM\b|allocat/i,
  /enlarge memory|memory access out of bounds/i, // Emscripten, wasm
  /WebAssembly\.Exception/,
];

/**
 * Whether a worker's error means out of memory: of the service, an allocation in a script, or wasm, from
 * which no exception but that of an allocation comes. `full`: the engine's heap is nearly as large as it may
 * be, so that lack of memory must be what ended it.
 */
export function isOutOfMemory({ kind, name, message, full = false }) {
  const text = message ?? "";
  if (/call stack|recursion/i.test(text)) return false; // a RangeError as well
  if (kind === "limit") return /memory|bytes/i.test(text);
  if (name === "RangeError" || (full && /abort|unreachable/i.test(text))) return true;
  return memoryErrors.some((pattern) => pattern.test(text));
}

/** `heap`: size of the engine's memory in bytes, 0 when there is no engine yet; `limit`: where it ends. */
export function outOfMemoryText(message, heap = 0, limit = maxHeap) {
  const taken = heap > 0 ? ` The engine had taken ${gib(heap)} of its limit of ${gib(limit)}.` : "";
  return `${message.replace(/\.?$/, ".")}${taken} ${wayOut}`;
}
