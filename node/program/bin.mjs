#!/usr/bin/env node
// driftscope: the program as WebAssembly, with the system that Node gives it.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

import { placeRuntimes } from "./runtimes.mjs";
import { start } from "./start.mjs";

const needed = 18;
const found = Number.parseInt(process.versions.node, 10);
if (found < needed) {
  console.error(`driftscope: Node.js ${process.versions.node} is too old: ${needed} or newer is needed`);
  process.exit(3);
}

const here = path.dirname(fileURLToPath(import.meta.url));

/** Of Windows: paths as the C++ library knows them, with slashes, and a drive after the first one. */
function argument(text) {
  if (process.platform !== "win32") return text;
  return text.replace(
    /(^|=|,)([A-Za-z]):[\\/]([^=,]*)/g,
    (_, before, drive, rest) => `${before}/${drive}:/${rest.replaceAll("\\", "/")}`,
  );
}

const site = path.join(here, "..", "site");
const runtimes = new URL("runtimes.json", import.meta.url);
if (fs.existsSync(runtimes)) placeRuntimes(site, JSON.parse(fs.readFileSync(runtimes, "utf8")));

await start(new URL("driftscope-node.mjs", import.meta.url), process.argv.slice(2).map(argument), {
  DRIFTSCOPE_NODE: process.env.DRIFTSCOPE_NODE ?? process.execPath,
  DRIFTSCOPE_SCRIPT: fileURLToPath(import.meta.url),
  HOME: process.env.HOME ?? argument(os.homedir()),
  DRIFTSCOPE_SITE: process.env.DRIFTSCOPE_SITE ?? site,
});
