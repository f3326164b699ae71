// onnxruntime-web on WebGL.
import { rendererFacts } from "../../device/webgl.mjs";
import { OnnxRuntimeWeb } from "../ort/onnxruntime_web.mjs";
import { PeerError } from "../peers.mjs";

function renderer() {
  const gl = typeof OffscreenCanvas === "undefined" ? null : new OffscreenCanvas(1, 1).getContext("webgl2");
  if (!gl) {
    const message = "ONNX Runtime Web on WebGL cannot run: this browser has no WebGL2 in workers";
    throw new PeerError("missing", message, true);
  }
  const facts = rendererFacts(gl);
  gl.getExtension("WEBGL_lose_context")?.loseContext();
  return facts;
}

export class Peer extends OnnxRuntimeWeb {
  constructor(folder, packages) {
    super(folder, packages, {
      name: "webgl",
      module: "ort.webgl.min.mjs",
      provider: "webgl",
      language: "GLSL ES 3.00",
      check: async () => renderer(),
    });
  }
}
