// Models that this browser keeps, named by the SHA-256 of their bytes, so that a second run, even after a
// restart of the server, fetches nothing. In Cache Storage, which every browser has; where it is locked
// (private windows) or full, nothing is kept and all else works. Every page of this origin can write there
// (another server on this address, another site of this host): what is read is hashed again, and nothing
// else of an entry is trusted. Clients: choice.mjs, job.mjs, kept.mjs.
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

/** The body, if it has these many bytes (any number when unknown) and this hash; else null. */
async function verified(response, sha256, size) {
  const blob = await response.blob(); // which need not be in memory
  if (blob.size > hashLimit || (size > 0 && blob.size !== size)) return null;
  const bytes = new Uint8Array(await blob.arrayBuffer());
  return (await hashOf(bytes)) === sha256 ? bytes : null;
}

/**
 * {bytes} with this hash; {} when there are none; {wrong: true} when there were others, which are gone
 * now.
 */
async function find({ sha256, bytes: size }) {
  const store = sha256 && crypto.subtle ? await open() : null;
  const response = await store?.match(keyOf(sha256)).catch(() => null);
  if (!response) return {};
  const bytes = await verified(response, sha256, size).catch(() => null);
  if (bytes) return { bytes };
  await store.delete(keyOf(sha256)).catch(() => {});
  return { wrong: true };
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
  const kept = await find(entry);
  if (kept.bytes) return { bytes: kept.bytes, from: "kept by this browser" };
  const begin = performance.now();
  const options = { what: entry.name, total: entry.bytes, onProgress, signal, ...init };
  const bytes = await download(url, options);
  const why = kept.wrong ? ", since the copy in this browser had been changed" : "";
  const from = `fetched in ${((performance.now() - begin) / 1000).toFixed(2)} s${why}`;
  if (keep && entry.sha256) await keepModel(entry.sha256, entry.name, bytes);
  return { bytes, from };
}

function nameOf(headers) {
  try {
    return decodeURIComponent(headers.get("X-Name") ?? "");
  } catch {
    return "";
  }
}

/** [{name, bytes}] of what is kept, as it says itself. */
export async function list() {
  const store = await open();
  const entries = (await store?.keys().catch(() => [])) ?? [];
  const responses = await Promise.all(entries.map((entry) => store.match(entry)));
  return responses.filter(Boolean).map(({ headers }) => ({
    name: nameOf(headers),
    bytes: Math.max(0, Number(headers.get("Content-Length"))) || 0,
  }));
}

/** Whether anything was ever kept here: a browser started for a single job has no use for it. */
export const inUse = () => caches.has(storeName).catch(() => false);

export const clear = () => caches.delete(storeName).catch(() => false);
