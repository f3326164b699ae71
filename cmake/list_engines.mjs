// node list_engines.mjs OUTPUT FOLDER: the self-descriptions of the wasm build's engines in FOLDER
// (core/protocol/messages.json, "capabilities"), for the page, which shows a list before it loads any.
// Client: web/engine.cmake.
import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

import { openEngine } from "../web/worker/engine.mjs";

const [output, folder] = process.argv.slice(2);
const base = pathToFileURL(`${resolve(folder)}/`).href;
const engine = await openEngine({ base, variant: "driftscope-simd", threads: 1 });
const { engines } = engine.request("capabilities").head;
// Whether one can run is for the browser to find out.
const list = engines.filter(({ in_browsers }) => in_browsers);
for (const entry of list) for (const here of ["available", "reason"]) delete entry[here];
writeFileSync(output, `${JSON.stringify(list)}\n`);
engine.close();
