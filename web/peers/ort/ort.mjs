// onnxruntime-web on the CPU.
import { OnnxRuntimeWeb } from "./onnxruntime_web.mjs";

export class Peer extends OnnxRuntimeWeb {
  constructor(folder, packages) {
    super(folder, packages, {
      name: "wasm",
      module: "ort.wasm.bundle.min.mjs",
      provider: "wasm",
      wasm: "ort-wasm-simd-threaded.wasm",
      language: "wasm SIMD128",
    });
  }
}
