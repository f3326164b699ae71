// node preload_modules.mjs INDEX.html SOURCE OUTPUT: INDEX.html with a link for each module that its module
// scripts import, directly or not, so that a browser fetches all of them at once rather than one level after
// the other. SOURCE is the folder that the addresses in INDEX.html are relative to. Client: web/engine.cmake.
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { argv } from "node:process";

const [index, source, output] = argv.slice(2);
const html = readFileSync(index, "utf8");

const script = /<script type="module" src="([^"]+)"><\/script>/g;
const staticImport = /^(?:import|export)\s(?:[^;]*?\sfrom\s)?"(\.[^"]+)";/gm;

const found = new Set();
function visit(file) {
  if (found.has(file)) return;
  found.add(file);
  for (const [, path] of readFileSync(file, "utf8").matchAll(staticImport)) visit(join(dirname(file), path));
}
const entries = [...html.matchAll(script)].map(([, path]) => join(source, path));
if (entries.length === 0) throw new Error(`${index}: no module script`);
for (const entry of entries) visit(entry);

const links = [...found]
  .filter((file) => !entries.includes(file))
  .map((file) => `<link rel="modulepreload" href="${relative(source, file)}">\n`);
const at = html.search(script);
writeFileSync(`${output}.new`, html.slice(0, at) + links.join("") + html.slice(at));
renameSync(`${output}.new`, output);
