// The adapters of web/peers on the files that the site would have, from node_modules.
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const packages = new URL("../../../node_modules/@tensorflow/", import.meta.url).pathname;
const files = {
  cpu: [
    "tfjs-core/dist/tf-core.min.js",
    "tfjs-converter/dist/tf-converter.min.js",
    "tfjs-backend-cpu/dist/tf-backend-cpu.min.js",
  ],
  wasm: [
    "tfjs-core/dist/tf-core.min.js",
    "tfjs-converter/dist/tf-converter.min.js",
    "tfjs-backend-wasm/dist/tf-backend-wasm.min.js",
    ...["", "-simd", "-threaded-simd"].map((kind) => `tfjs-backend-wasm/dist/tfjs-backend-wasm${kind}.wasm`),
  ],
};

/** A process has one TensorFlow.js, so one backend. */
export async function peerOf(backend) {
  const folder = mkdtempSync(join(tmpdir(), "driftscope-tfjs-site-"));
  mkdirSync(join(folder, "tfjs"));
  for (const file of files[backend])
    copyFileSync(join(packages, file), join(folder, "tfjs", file.split("/").pop()));
  process.on("exit", () => rmSync(folder, { recursive: true }));
  const { Peer } = await import(`../../../web/peers/tfjs-${backend}/tfjs-${backend}.mjs`);
  return new Peer(pathToFileURL(`${folder}/tfjs-${backend}/`));
}
