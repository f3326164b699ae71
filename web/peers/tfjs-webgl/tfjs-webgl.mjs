// TensorFlow.js on WebGL: fragment shaders; results of a few elements it computes on the CPU, which
// cpu_forward=off forbids.
import { rendererFacts } from "../../device/webgl.mjs";
import { PeerError } from "../peers.mjs";
import { TensorFlowJs } from "../tfjs/tensorflow.mjs";

const onOff = (value) => value === "on";

export class Peer extends TensorFlowJs {
  constructor(folder, packages) {
    super(folder, packages, {
      name: "webgl",
      script: "tf-backend-webgl.min.js",
      language: "GLSL ES 3.00",
      prepare(tf, _from, { options }) {
        if (typeof OffscreenCanvas === "undefined")
          throw new PeerError(
            "missing",
            "TensorFlow.js on WebGL cannot run: this browser has no WebGL2 in workers",
            true,
          );
        // It would decline software renderers, with which a comparison is just as informative.
        tf.env().set("SOFTWARE_WEBGL_ENABLED", true);
        tf.env().set("WEBGL_PACK", onOff(options.pack ?? "on"));
        tf.env().set("WEBGL_FORCE_F16_TEXTURES", options.precision === "fp16");
        tf.env().set("WEBGL_CPU_FORWARD", onOff(options.cpu_forward ?? "on"));
      },
      describe(tf) {
        const { gl } = tf.backend().gpgpu;
        const { device, software } = rendererFacts(gl);
        const float32 = tf.env().getBool("WEBGL_RENDER_FLOAT32_ENABLED");
        return {
          device,
          options: {
            precision: float32 ? "fp32" : "fp16",
            webgl: String(tf.env().getNumber("WEBGL_VERSION")),
            ...(software && { software_gpu: "true" }),
          },
        };
      },
      heap: (tf) => ({ bytes: tf.memory().numBytesInGPUAllocated ?? tf.memory().numBytes, kind: "tfjs_gpu" }),
    });
  }
}
