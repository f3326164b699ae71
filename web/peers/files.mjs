// Files of a runtime, in a browser or under Node, whose fetch reads no file: URLs. Clients: adapters of peers.
import { PeerError } from "./peers.mjs";

/** Bytes of the file at a URL; `what` names it in the error if the site lacks it. */
export async function fetchBytes(url, what) {
  const { href, protocol } = new URL(url);
  if (protocol === "file:") {
    const { readFile } = await import("node:fs/promises");
    return readFile(new URL(href)).catch((error) => lacks(what, error.message));
  }
  const answer = await fetch(href).catch((error) => lacks(what, error.message));
  if (!answer.ok) lacks(what, `${answer.status} ${answer.statusText}`);
  return new Uint8Array(await answer.arrayBuffer());
}

function lacks(what, why) {
  const message = `the site lacks ${what} (${why}); run tools/setup, then 'cmake --build --preset web'`;
  throw new PeerError("missing", message, true);
}
