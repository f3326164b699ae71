// onnxruntime-web on WebGPU.
import { adapterFacts } from "../../device/webgpu.mjs";
import { OnnxRuntimeWeb } from "../ort/onnxruntime_web.mjs";
import { PeerError } from "../peers.mjs";

async function adapter() {
  const found = await globalThis.navigator?.gpu?.requestAdapter({ powerPreference: "high-performance" });
  if (!found) {
    const why = navigator.gpu ? "finds no GPU that WebGPU can use" : "has no WebGPU, or not in workers";
    throw new PeerError("missing", `ONNX Runtime Web on WebGPU cannot run: this browser ${why}`, true);
  }
  return adapterFacts(found);
}

export class Peer extends OnnxRuntimeWeb {
  constructor(folder, packages) {
    super(folder, packages, {
      name: "webgpu",
      module: "ort.webgpu.bundle.min.mjs",
      provider: "webgpu",
      wasm: "ort-wasm-simd-threaded.asyncify.wasm",
      language: "WGSL",
      check: adapter,
    });
  }
}
