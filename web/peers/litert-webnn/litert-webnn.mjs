// LiteRT.js on WebNN, the browser's own neural network API.
import { hasJspi } from "../litert/builds.mjs";
import { LiteRt } from "../litert/litert.mjs";
import { PeerError } from "../peers.mjs";

function check() {
  const why = !globalThis.navigator?.ml
    ? "has no WebNN, or not in workers"
    : hasJspi()
      ? null
      : "has no JSPI, which LiteRT.js needs for it";
  if (why) throw new PeerError("missing", `LiteRT.js on WebNN cannot run: this browser ${why}`, true);
  return {};
}

export class Peer extends LiteRt {
  constructor(folder) {
    super(folder, {
      name: "webnn",
      language: "WebNN",
      check,
      compileOptions: ({ device = "cpu", power = "default", precision = "fp32" }) => ({
        webNNOptions: { devicePreference: device, powerPreference: power, precision },
      }),
    });
  }
}
