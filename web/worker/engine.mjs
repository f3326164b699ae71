// The wasm engine behind the session service. Clients: worker.mjs, tests under Node. Its requests are those
// of core/protocol/messages.json.
import { Devices } from "../device/devices.mjs";
import { Peers } from "../peers/peers.mjs";
import { heapLimit } from "../shared/memory.mjs";
import { runsAgain } from "../shared/run_plan.mjs";
import { Threads } from "../shared/threads.mjs";
import { ServiceClient, ServiceError } from "./client.mjs";

export { ServiceError };

// Until a start that goes wrong is known to have done so; one that hangs is left to the session's own limit.
const longestStartMs = 45_000;

/** The tables of core/protocol/messages.json. */
export const loadMessages = async (base) => (await load(new URL("messages.mjs", base))).messages;

/** The builds, best first: whether each needs relaxed SIMD, and shared memory. */
export const variants = [
  { name: "driftscope-relaxed-threads", relaxed: true, threads: true },
  { name: "driftscope-simd-threads", relaxed: false, threads: true },
  { name: "driftscope-relaxed", relaxed: true, threads: false },
  { name: "driftscope-simd", relaxed: false, threads: false },
];

function load(url) {
  return import(url.href).catch(async ({ message }) => {
    const answer = await fetch(url, { method: "HEAD" }).catch(() => null);
    if (answer?.status === 404) {
      const file = url.pathname.split("/").pop();
      throw new ServiceError({
        kind: "missing",
        message: `This site was built without ${file}. \`cmake --build --preset web\` builds all of it.`,
      });
    }
    const hint = "Offline, only engines that ran before are available; go online and reload the page.";
    throw new ServiceError({ kind: "io", message: `The engine could not be fetched (${message}). ${hint}` });
  });
}

/**
 * Loads one build. `threads` workers in all (the caller among them) are made before it starts:
 * making them later would need the event loop, which a running request blocks. `devices`: a port to the page,
 * which has the GPU that this worker may lack (web/device/page_devices.mjs). `memory`: bytes that tensors may
 * take (memory.mjs); 0: all that there is.
 */
export async function openEngine({ base, variant, threads, devices: page, memory = 0 }) {
  const script = new URL(`${variant}.mjs`, base);
  const { default: create } = await load(script);
  const messages = await loadMessages(base);
  const peers = new Peers(base);
  const gpu = new Devices({ page });
  const pool = new Threads();
  const extra = Math.max(0, threads - 1);
  const module = await pool.keep(
    () => create({ pthreadPoolSize: extra, peers, gpu }),
    extra > 0 ? script : undefined,
  );
  if (memory > 0) module._ds_limit_memory(memory, heapLimit(memory));
  const client = new ServiceClient(messages, (message) => exchange(module, message));
  return {
    messages,
    /** {head, payload} of the response. `fields` and the response are checked by the schema. */
    request: (name, fields, payload) => request(module, client, name, fields, payload),
    heapBytes: () => module.wasmMemory.buffer.byteLength,
    heapLimit: () => module._ds_heap_limit() >>> 0,
    /** Ends its threads, unless the worker itself ends. */
    close() {
      pool.end();
      peers.close();
      gpu.close();
    },
    /** After a response with `waiting`: resolves when polling makes sense again. */
    settled: () => Promise.all([peers.settled(), gpu.settled()]),
    /**
     * After "start" and "prepare": resolves when none of their work is left in the event loop; throws
     * if only another worker can help. Await it before the first poll: until then nothing has left this
     * worker, so that the next one repeats no message.
     */
    async prepared() {
      await peers.idle(longestStartMs);
      if (peers.stuck) throw new ServiceError({ ...peers.stuck, stuck: true });
    },
  };
}

// Messages between two slices of unwatched runs take time from them.
const timingSliceMs = 250;

/** Polls until the run has finished; `onResponse(head, payload)` is awaited for every response. */
export async function runToEnd(engine, budget_ms, onResponse = () => {}) {
  let timing = false;
  for (;;) {
    const { head, payload } = engine.request("poll", { budget_ms: timing ? timingSliceMs : budget_ms });
    timing = head.timing ?? false;
    await onResponse(head, payload);
    if (head.finished) return;
    if (head.waiting) await engine.settled();
  }
}

// A model stays outside the heap, which never shrinks: its weights are read from here, one by one. If loaded
// for a single session it stays until that is prepared, or, when other runs follow, until the end.
function request(module, client, name, fields = {}, payload = new Uint8Array(0)) {
  const loads = name === "load";
  if (loads) {
    module.outside = payload;
    fields = { ...fields, outside: payload.length };
    payload = new Uint8Array(0);
  }
  try {
    return client.send(name, fields, payload);
  } finally {
    const again = name === "start" && runsAgain(fields);
    const over = ["start", "prepare", "finish", "cancel"].includes(name) && !again;
    if (loads ? !fields.once : over) module.outside = null;
  }
}

function exchange(module, bytes) {
  const size = bytes.length;
  const message = module._ds_alloc(size) >>> 0;
  if (message === 0)
    throw new ServiceError({ kind: "limit", message: `out of memory for ${size} bytes of a request` });
  // The memory may have grown, here or in the request: create a new view for every use.
  new Uint8Array(module.wasmMemory.buffer, message, size).set(bytes);
  const replySize = module._ds_request(message, size) >>> 0;
  const reply = new Uint8Array(module.wasmMemory.buffer, module._ds_reply() >>> 0, replySize);
  // slice copies: shared memory can be neither decoded nor transferred.
  const copy = reply.slice();
  module._ds_release();
  return copy;
}
