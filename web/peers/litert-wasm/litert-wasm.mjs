// LiteRT.js on the CPU: XNNPACK as WebAssembly.
import { LiteRt } from "../litert/litert.mjs";

export class Peer extends LiteRt {
  constructor(folder) {
    super(folder, { name: "wasm" });
  }
}
