// How much lies in a folder. Clients: the curves of temporary files and profiles.
import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** {files, bytes} of everything below; what disappears meanwhile is left out. */
export function folderSize(folder) {
  let files = 0;
  let bytes = 0;
  const visit = (path) => {
    let entries = [];
    try {
      entries = readdirSync(path, { withFileTypes: true });
    } catch {}
    for (const entry of entries) {
      const below = join(path, entry.name);
      if (entry.isDirectory()) visit(below);
      else
        try {
          bytes += lstatSync(below).size;
          files += 1;
        } catch {}
    }
  };
  visit(folder);
  return { files, bytes };
}
