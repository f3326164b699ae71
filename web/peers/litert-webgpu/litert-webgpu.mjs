// LiteRT.js on WebGPU, by ML Drift.
import { adapterFacts } from "../../device/webgpu.mjs";
import { LiteRt } from "../litert/litert.mjs";
import { PeerError } from "../peers.mjs";

async function adapter() {
  const found = await globalThis.navigator?.gpu?.requestAdapter({ powerPreference: "high-performance" });
  if (!found) {
    const why = globalThis.navigator?.gpu
      ? "finds no GPU that WebGPU can use"
      : "has no WebGPU, or not in workers";
    throw new PeerError("missing", `LiteRT.js on WebGPU cannot run: this browser ${why}`, true);
  }
  return adapterFacts(found);
}

export class Peer extends LiteRt {
  constructor(folder) {
    super(folder, {
      name: "webgpu",
      language: "WGSL",
      check: adapter,
      compileOptions: ({ precision = "fp32" }) => ({ gpuOptions: { precision } }),
    });
  }
}
