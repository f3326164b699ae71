// A host of static files without special support for the page: a subfolder, no headers but the type.
import { createReadStream, existsSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join } from "node:path";
import { text } from "node:stream/consumers";

import { filesOf, workerOf } from "../../../cmake/list_site.mjs";
import { builtFile, root } from "../../e2e/support.mjs";

export const site = builtFile("web", "site");

const types = {
  ".html": "text/html",
  ".mjs": "text/javascript",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
};

/** Serves `more` ([[path, bytes]]) instead of built files, or in addition, as a separate build. */
export function putBuild(files, more) {
  const changed = new Map(more);
  const template = readFileSync(join(root, "web", "page", "service_worker.js"), "utf8");
  const list = filesOf(site).filter(([name]) => !changed.has(name));
  for (const [name, bytes] of changed) files.set(name, bytes);
  files.set("service_worker.js", workerOf(template, [...list, ...changed]));
}

/**
 * {url, requests, files, stop, posted}: the built site below /some/dir/. `files`: a Map of paths to bytes
 * that the host serves instead of the built ones, which a test may change meanwhile; `mjs`: its type
 * for .mjs; `headers`: further ones; `posted`: a promise of the first body that is posted.
 */
export async function staticHost(t, { mjs = types[".mjs"], headers: more = {} } = {}) {
  const requests = [];
  const files = new Map();
  let post;
  const posted = new Promise((resolve) => (post = resolve));
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url, "http://host").pathname);
    if (!path.startsWith("/some/dir/") || path.includes("..")) return response.writeHead(404).end();
    const name = path.slice("/some/dir/".length) || "index.html";
    requests.push(name);
    if (request.method === "POST")
      return text(request)
        .then(post)
        .finally(() => response.end());
    const file = join(site, name);
    const extension = extname(name);
    // The browser caches nothing by itself: only the page keeps what works without a network.
    const headers = {
      "Content-Type": extension === ".mjs" ? mjs : (types[extension] ?? "application/octet-stream"),
      "Cache-Control": "no-store",
      ...more,
    };
    if (files.has(name)) return response.writeHead(200, headers).end(files.get(name));
    if (!existsSync(file) || !statSync(file).isFile()) return response.writeHead(404).end();
    createReadStream(file).pipe(response.writeHead(200, headers));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const stop = () =>
    new Promise((resolve) => {
      server.close(resolve);
      server.closeAllConnections();
    });
  t.after(() => server.listening && stop());
  return { posted, url: `http://127.0.0.1:${server.address().port}/some/dir/`, requests, files, stop };
}
