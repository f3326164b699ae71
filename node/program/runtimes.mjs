// The runtimes of others are packages of their own. Their files are put where the page asks for them.
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

const require = createRequire(import.meta.url);

/** The folder of an installed package, ours or of the project; null: it is not there. */
function folderOf(name) {
  for (const folder of require.resolve.paths(name) ?? []) {
    const found = path.join(folder, name);
    if (fs.existsSync(path.join(found, "package.json"))) return found;
  }
  return null;
}

/**
 * `files`: of the site, with the file of a package for each. What cannot be written is left out: the engine
 * says then that its runtime is missing.
 */
export function placeRuntimes(site, files) {
  for (const [file, source] of Object.entries(files)) {
    const target = path.join(site, file);
    if (fs.existsSync(target)) continue;
    const name = source
      .split("/")
      .slice(0, source.startsWith("@") ? 2 : 1)
      .join("/");
    const folder = folderOf(name);
    if (!folder) continue;
    const from = path.join(folder, source.slice(name.length + 1));
    try {
      fs.mkdirSync(path.dirname(target), { recursive: true });
      try {
        fs.linkSync(from, target);
      } catch (error) {
        if (error.code === "EEXIST") continue;
        fs.copyFileSync(from, target, fs.constants.COPYFILE_EXCL);
      }
    } catch {
      // A folder of root's, or another process was first.
    }
  }
}
