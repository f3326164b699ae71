// Models that this browser keeps, named by the SHA-256 of their bytes, so that a second run, even after a
// restart of the server, fetches nothing. In Cache Storage, which every browser has; where it is locked
// (private windows) or full, nothing is kept and all else works. Clients: choice.mjs, job.mjs, kept.mjs.
import { download } from "./download.mjs";

const storeName = "driftscope-models-1";
// Relative to the origin, not to the server's token, which changes.
const keyOf = (sha256) => new URL(`/driftscope/stored/${sha256}`, location.origin).href;
const hashLimit = 512e6; // since hashing needs a copy

async function open() {
  try {
    return await caches.open(storeName);
  } catch {
    return null;
  }
}

async function hashOf(bytes) {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The bytes with this hash, or null. */
async function find(sha256) {
  const store = sha256 ? await open() : null;
  const response = await store?.match(keyOf(sha256)).catch(() => null);
  return response ? new Uint8Array(await response.arrayBuffer()) : null;
}

/**
 * Keeps bytes; returns whether they are kept now. Bytes with another hash are not: the file changed
 * meanwhile. When the browser's quota is reached, the oldest models are removed.
 */
async function keepModel(sha256, name, bytes) {
  const store = await open();
  if (!store || bytes.length > hashLimit || !crypto.subtle) return false;
  if ((await hashOf(bytes)) !== sha256) return false;
  const headers = { "Content-Length": String(bytes.length), "X-Name": encodeURIComponent(name) };
  for (;;) {
    try {
      await store.put(keyOf(sha256), new Response(bytes, { headers }));
      return true;
    } catch {
      const [oldest] = await store.keys();
      if (!oldest) return false;
      await store.delete(oldest);
    }
  }
}

/**
 * The bytes of a model, from the browser's store or else from `url`; {bytes, from}. `entry` = {name, bytes,
 * sha256}; `keep`: whether they go into the store.
 */
export async function fetchModel(url, entry, { keep = true, onProgress, signal, ...init } = {}) {
  const kept = await find(entry.sha256);
  if (kept) return { bytes: kept, from: "kept by this browser" };
  const begin = performance.now();
  const options = { what: entry.name, total: entry.bytes, onProgress, signal, ...init };
  const bytes = await download(url, options);
  const from = `fetched in ${((performance.now() - begin) / 1000).toFixed(2)} s`;
  if (keep && entry.sha256) await keepModel(entry.sha256, entry.name, bytes);
  return { bytes, from };
}

/** [{name, bytes}] of what is kept. */
export async function list() {
  const store = await open();
  const entries = (await store?.keys().catch(() => [])) ?? [];
  const responses = await Promise.all(entries.map((entry) => store.match(entry)));
  return responses.filter(Boolean).map(({ headers }) => ({
    name: decodeURIComponent(headers.get("X-Name") ?? ""),
    bytes: Number(headers.get("Content-Length")),
  }));
}

/** Whether anything was ever kept here: a browser started for a single job has no use for it. */
export const inUse = () => caches.has(storeName).catch(() => false);

export const clear = () => caches.delete(storeName).catch(() => false);
