// node name_build.mjs WASM: writes NAME.json beside NAME.wasm, {"build": "<first 8 digits of its SHA-256>"}:
// with which build of an engine the page made a run. Named as by `bench`. Client: web/engine.cmake.
import { createHash } from "node:crypto";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { argv } from "node:process";

const [wasm] = argv.slice(2);
const output = wasm.replace(/\.wasm$/, ".json");
const build = createHash("sha256").update(readFileSync(wasm)).digest("hex").slice(0, 8);
writeFileSync(`${output}.new`, JSON.stringify({ build }));
renameSync(`${output}.new`, output);
