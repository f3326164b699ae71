// Imported first by what runs our engines in Node: version 20 has relaxed SIMD only behind a flag, which
// later ones do not know.
import { setFlagsFromString } from "node:v8";

// i8x16.relaxed_swizzle.
const relaxed = new Uint8Array([
  ...[0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 15, 1, 13, 0],
  ...[65, 1, 253, 15, 65, 2, 253, 15, 253, 128, 2, 11],
]);
if (!WebAssembly.validate(relaxed)) setFlagsFromString("--experimental-wasm-relaxed-simd");
