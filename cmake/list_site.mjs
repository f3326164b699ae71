// node list_site.mjs WORKER SITE: writes SITE/service_worker.js: WORKER, preceded by a list of the
// site's files, by SHA-256. Clients: web/engine.cmake, tests.
import { createHash } from "node:crypto";
import { readFileSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { argv } from "node:process";
import { pathToFileURL } from "node:url";

const sha256 = (bytes) => createHash("sha256").update(bytes);
const workerFile = "service_worker.js";

/** [[path, bytes]] of the files that the site serves; compressed copies are the host's business. */
export function filesOf(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/\.(br|gz|new)$/.test(entry.name) && entry.name !== workerFile)
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .sort()
    .map((file) => [relative(folder, file).replaceAll(sep, "/"), readFileSync(file)]);
}

/** The service worker of a site with these files. */
export function workerOf(template, files) {
  const hashes = Object.fromEntries(files.map(([path, bytes]) => [path, sha256(bytes).digest("base64")]));
  const build = sha256(JSON.stringify(hashes)).digest("hex").slice(0, 12);
  return `const site = ${JSON.stringify({ build, files: hashes })};\n${template}`;
}

if (import.meta.url === pathToFileURL(argv[1]).href) {
  const [template, folder] = argv.slice(2);
  const output = join(folder, workerFile);
  writeFileSync(`${output}.new`, workerOf(readFileSync(template, "utf8"), filesOf(folder)));
  renameSync(`${output}.new`, output);
}
