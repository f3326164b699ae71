// Which of LiteRT.js's four WebAssembly builds runs here. Client: litert.mjs.

// (func (result v128) … i8x16.relaxed_swizzle), as LiteRT.js itself asks for relaxed SIMD.
const relaxedSimd = new Uint8Array([
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 15, 1, 13, 0, 65, 1, 253, 15, 65, 2,
  253, 15, 253, 128, 2, 11,
]);

const builds = {
  compat: { script: "litert_wasm_compat_internal.js", language: "wasm SIMD128" },
  default: { script: "litert_wasm_internal.js", language: "wasm relaxed SIMD" },
  threaded: { script: "litert_wasm_threaded_internal.js", language: "wasm relaxed SIMD" },
  jspi: { script: "litert_wasm_jspi_internal.js", language: "wasm relaxed SIMD" },
};

export const hasRelaxedSimd = () => WebAssembly.validate(relaxedSimd);
export const hasJspi = () => "Suspending" in WebAssembly;

function hasThreads() {
  // Node has shared memory without isolation, but the threads of these builds are workers of browsers.
  return globalThis.crossOriginIsolated === true && typeof Worker === "function";
}

/** {name, script, language} for an accelerator and a number of threads. */
export function chooseBuild(accelerator, threads) {
  const named = (name) => ({ name, ...builds[name] });
  if (!hasRelaxedSimd()) return named("compat");
  // Accelerators that work asynchronously beside the CPU need JSPI.
  if (accelerator !== "wasm" && hasJspi()) return named("jspi");
  if (accelerator === "wasm" && threads > 1 && hasThreads()) return named("threaded");
  return named("default");
}
