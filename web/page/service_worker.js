// Serves the page on a static host: with the headers that isolate it, which such a host cannot send, and
// without a network. The build puts a line before this file (cmake/list_site.mjs):
//   const site = {"build": "…", "files": {"web/page/page.mjs": "SHA-256 in base64", …}};
// Files are fetched and kept by these hashes, and hashed again whenever they are read, so that exactly
// one build is served, whatever the host has meanwhile and whatever another page of this origin wrote
// into the cache. Another build is another worker; it waits until no page of this one is open. Not for
// `driftscope serve` (start.js).
"use strict";

const scope = self.registration.scope;
const storeName = `driftscope-site ${scope}`; // one origin may host several sites

const types = {
  css: "text/css; charset=utf-8",
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  json: "application/json",
  mjs: "text/javascript; charset=utf-8",
  png: "image/png",
  svg: "image/svg+xml",
  wasm: "application/wasm",
  webmanifest: "application/manifest+json",
};
const extensionOf = (path) => /\.(\w+)$/.exec(path)?.[1] ?? "";

/** The files the page needs to start; the rest is kept once it was used. */
const isShell = (path) => /^(web\/|api\/|[^/]+$)/.test(path) || path === "assets/models.json";

/** The page itself keeps models, by their hash (store.mjs). */
const keptByPage = (path) => /^assets\/models\/.*\.onnx$/.test(path);

// If storage is locked or full, nothing is kept, and all else works.
const store = () => caches.open(storeName).catch(() => null);

const keyOf = (path) =>
  new URL(`kept/${encodeURIComponent(site.files[path])}.${extensionOf(path)}`, scope).href;

function answerWith(body, path, size) {
  return new Response(body, {
    headers: {
      "Content-Type": types[extensionOf(path)] ?? "application/octet-stream",
      "Content-Length": size,
      "Cross-Origin-Opener-Policy": "same-origin",
      "Cross-Origin-Embedder-Policy": "require-corp",
      "Cross-Origin-Resource-Policy": "same-origin",
    },
  });
}

const base64 = (bytes) => btoa(String.fromCharCode(...new Uint8Array(bytes)));

/** The bytes that are kept of a listed file, if they are those of the list; others are forgotten. */
async function keptBytes(kept, path) {
  const found = await kept?.match(keyOf(path));
  if (!found) return null;
  const bytes = await found.arrayBuffer().catch(() => null);
  if (bytes && base64(await crypto.subtle.digest("SHA-256", bytes)) === site.files[path]) return bytes;
  await kept.delete(keyOf(path)).catch(() => {});
  return null;
}

/** A listed file: kept, or fetched and then kept. Throws if it is not available with these bytes. */
async function fileOf(path) {
  const kept = await store();
  const found = await keptBytes(kept, path);
  // With headers of our own: those that are kept may be another page's as well.
  if (found) return answerWith(found, path, found.byteLength);
  // Most hosts serve a folder's page under the folder's name; not all do under its own.
  const url = new URL(path === "index.html" ? "./" : path, scope);
  const response = await fetch(url, { cache: "no-cache", integrity: `sha256-${site.files[path]}` });
  if (!response.ok) throw new TypeError(`HTTP ${response.status}`);
  const body = await response.blob();
  const served = answerWith(body, path, body.size);
  if (!keptByPage(path)) await kept?.put(keyOf(path), served.clone()).catch(() => {});
  return served;
}

async function answer(path) {
  try {
    return await fileOf(path);
  } catch {
    // The host has another build by now, which the next load will get.
    self.registration.update().catch(() => {});
    const statusText = "not kept by this browser, and there is no network or the site has a newer build";
    return new Response(`${path}: ${statusText}\n`, { status: 504, statusText });
  }
}

/** Without a network: a file that is not listed does not exist on the site. */
const notListed = (path) => new Response(`${path}\n`, { status: 404, statusText: "Not Found" });

// Asks once and waits: repeated loading would keep this worker too busy to be replaced. A browser
// may take long for that; then this build stays for one more load.
const handOverPage = `<!doctype html><title>Driftscope</title><script>
setTimeout(() => {
  const url = new URL(location.href);
  url.searchParams.set("stay", "");
  location.replace(url);
}, 4000);
navigator.serviceWorker.getRegistration().then(({ waiting }) => {
  if (!waiting) return location.reload();
  waiting.addEventListener("statechange", () => waiting.state === "activating" || location.reload());
  waiting.postMessage("take over");
});
</script>`;

/** A newer build takes over between two loads of the last page, so that no page sees files of both. */
async function handOver(url) {
  const { waiting } = self.registration;
  if (
    !waiting ||
    url.searchParams.has("stay") ||
    (await self.clients.matchAll({ type: "window" })).length > 1
  )
    return null;
  return new Response(handOverPage, { headers: { "Content-Type": types.html } });
}

self.addEventListener("install", (event) => {
  const shell = Object.keys(site.files).filter(isShell);
  event.waitUntil(Promise.all(shell.map(fileOf)));
});

self.addEventListener("message", ({ data }) => data === "take over" && self.skipWaiting());

async function forgetOthers() {
  const kept = await store();
  const listed = new Set(Object.keys(site.files).map(keyOf));
  const others = ((await kept?.keys()) ?? []).filter(({ url }) => !listed.has(url));
  await Promise.all(others.map((request) => kept.delete(request)));
}

self.addEventListener("activate", (event) =>
  event.waitUntil(forgetOthers().then(() => self.clients.claim())),
);

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method !== "GET" || !url.href.startsWith(scope)) return;
  const path = decodeURIComponent(url.pathname.slice(new URL(scope).pathname.length)) || "index.html";
  if (!Object.hasOwn(site.files, path)) return event.respondWith(fetch(request).catch(() => notListed(path)));
  if (request.mode === "navigate") event.respondWith(handOver(url).then((handed) => handed ?? answer(path)));
  else event.respondWith(answer(path));
});
