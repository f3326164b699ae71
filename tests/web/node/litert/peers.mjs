// The adapters of web/peers/litert-* on the files that the site would have
// (core/engines/litert/engine.cmake), from node_modules.
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const packages = new URL("../../../../node_modules/@litertjs/", import.meta.url).pathname;
const builds = ["", "_compat", "_threaded", "_jspi"].map((kind) => `litert_wasm${kind}_internal`);

export const installed = () => existsSync(join(packages, "core/dist/index.js"));

/** The folder litert/ of a site, as a path. */
export function makeSite(folder) {
  const target = join(folder, "litert");
  mkdirSync(target, { recursive: true });
  const rewrite = (from, to, old, text) =>
    writeFileSync(join(target, to), readFileSync(join(packages, from), "utf8").replace(old, text));
  rewrite("core/dist/index.js", "litert.mjs", '"@litertjs/wasm-utils"', '"./wasm_utils.mjs"');
  copyFileSync(join(packages, "wasm-utils/dist/index.js"), join(target, "wasm_utils.mjs"));
  for (const build of builds) {
    rewrite(`core/wasm/${build}.js`, `${build}.js`, "var ModuleFactory =", "globalThis.ModuleFactory =");
    copyFileSync(join(packages, `core/wasm/${build}.wasm`), join(target, `${build}.wasm`));
  }
  return target;
}

export async function peerOf(accelerator) {
  const folder = mkdtempSync(join(tmpdir(), "driftscope-litert-site-"));
  makeSite(folder);
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  const { Peer } = await import(`../../../../web/peers/litert-${accelerator}/litert-${accelerator}.mjs`);
  return new Peer(pathToFileURL(`${folder}/litert-${accelerator}/`));
}
