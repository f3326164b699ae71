// TensorFlow.js on WebGPU: compute shaders; results of a few elements it computes on the CPU, which
// cpu_forward=off forbids.
import { adapterFacts } from "../../device/webgpu.mjs";
import { PeerError } from "../peers.mjs";
import { TensorFlowJs } from "../tfjs/tensorflow.mjs";

async function usableAdapter() {
  const found = await globalThis.navigator?.gpu?.requestAdapter({ powerPreference: "high-performance" });
  if (found) return adapterFacts(found);
  const why = globalThis.navigator?.gpu
    ? "finds no GPU that WebGPU can use"
    : "has no WebGPU, or not in workers";
  throw new PeerError("missing", `TensorFlow.js on WebGPU cannot run: this browser ${why}`, true);
}

export class Peer extends TensorFlowJs {
  constructor(folder, packages) {
    let facts = {};
    super(folder, packages, {
      name: "webgpu",
      script: "tf-backend-webgpu.min.js",
      language: "WGSL",
      async prepare(tf, _from, { options }) {
        facts = await usableAdapter();
        tf.env().set("WEBGPU_CPU_FORWARD", (options.cpu_forward ?? "on") === "on");
      },
      describe: () => ({
        device: facts.device,
        options: { ...(facts.software && { software_gpu: "true" }) },
      }),
      // Without timestamps it would read every result back, which WebGPU cannot do at once.
      profiles: (tf) => tf.backend().supportTimestampQuery === true,
      heap: (tf) => ({ bytes: tf.memory().numBytesInGPU ?? tf.memory().numBytes, kind: "tfjs_gpu" }),
    });
  }
}
