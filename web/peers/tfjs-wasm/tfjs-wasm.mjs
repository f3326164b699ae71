// TensorFlow.js on WebAssembly: XNNPACK and its own kernels, with SIMD and threads where there are.
import { TensorFlowJs } from "../tfjs/tensorflow.mjs";

/** Where its .wasm files are, as Emscripten wants it: under Node a path. */
const prefixOf = (folder) =>
  folder.protocol === "file:" ? decodeURIComponent(folder.pathname) : folder.href;

// TensorFlow.js starts its threads from blob: URLs, which the page's Content-Security-Policy forbids, and
// waits for them forever.
const noThreads = "TensorFlow.js starts threads from blob: URLs, which the page's security policy forbids";
const mayStartThreads = (folder) => folder.protocol === "file:";

export class Peer extends TensorFlowJs {
  constructor(folder, packages) {
    super(folder, packages, {
      name: "wasm",
      script: "tf-backend-wasm.min.js",
      language: "wasm",
      prepare(tf, from, { threads, options }) {
        if (options.simd === "off") tf.env().set("WASM_HAS_SIMD_SUPPORT", false);
        if (threads === 1 || !mayStartThreads(from)) tf.env().set("WASM_HAS_MULTITHREAD_SUPPORT", false);
        tf.wasm.setWasmPaths(prefixOf(from));
        tf.wasm.setThreadsCount(threads);
      },
      async describe(tf, _from, { threads: asked }) {
        const simd = await tf.env().getAsync("WASM_HAS_SIMD_SUPPORT");
        const several = simd && (await tf.env().getAsync("WASM_HAS_MULTITHREAD_SUPPORT"));
        return {
          threads: several ? tf.wasm.getThreadsCount() : 1,
          instruction_set: simd ? "wasm SIMD128" : "wasm",
          ...(asked > 1 && !several && { options: { threads_why: noThreads } }),
        };
      },
      heap: (tf) => ({ bytes: tf.backend().wasm.HEAPU8.buffer.byteLength, kind: "tfjs_wasm_heap" }),
    });
  }
}
