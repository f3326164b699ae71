// Fetched packages of runtimes: other releases than the one beside engine/. The program puts them into its
// cache and serves them as packages/NAME@VERSION/. Clients: adapters of runtimes that have releases.
import { PeerError } from "./peers.mjs";

async function textOf(url) {
  if (url.protocol === "file:") return (await import("node:fs/promises")).readFile(url, "utf8");
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${answer.status}`);
  return answer.text();
}

/** {files: names of the package's files, url(name)}. `packages`: URL of the folder of packages, or null. */
export async function openPackage(packages, name, version) {
  const missing = (why) =>
    new PeerError(
      "missing",
      `${name} ${version} is not here${why}; the program fetches it for targets that it runs itself`,
      true,
    );
  if (!packages) throw missing("");
  const folder = new URL(`${name.replace("/", "+")}@${version}/`, packages);
  let list;
  try {
    list = JSON.parse(await textOf(new URL("driftscope-package.json", folder)));
  } catch (error) {
    throw missing(` (${error.message})`);
  }
  return { files: new Set(list.files.map(({ path }) => path)), url: (file) => new URL(file, folder) };
}
