// Bytes from a server, with progress reports. Clients: choice.mjs, job.mjs.
import { RunError } from "../shared/errors.mjs";
import { insist } from "../shared/insist.mjs";

const reportMs = 100; // often enough for a moving bar
const firstRoom = 1 << 16;
const pieceBytes = 2 << 20; // what a failure costs on a slow network is a few seconds

const megabytes = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;

function room(size, what) {
  try {
    return new Uint8Array(size);
  } catch {
    throw new RunError("limit", `${what}: this browser has no memory for its ${megabytes(size)}.`);
  }
}

/** Reports, at most every reportMs, the bytes received, the speed, and the remaining time. */
function meter(total, onProgress) {
  const begin = performance.now();
  let reportedAt = -Infinity;
  return (received, last = false) => {
    const now = performance.now();
    if (!last && now - reportedAt < reportMs) return;
    reportedAt = now;
    const perSecond = (1000 * received) / Math.max(1, now - begin);
    const known = total >= received && received > 0;
    const remainingMs = known ? (1000 * (total - received)) / perSecond : null;
    onProgress({ received, total, perSecond, remainingMs });
  };
}

export const httpText = ({ status, statusText }) => `HTTP ${status}${statusText && ` (${statusText})`}`;

async function open(url, what, init) {
  const response = await fetch(url, init);
  if (!response.ok) throw new RunError("io", `${what}: ${httpText(response)}.`);
  return response;
}

// For a compressed response Content-Length is the size as sent, not the unpacked size.
const announced = ({ headers }) =>
  headers.has("Content-Encoding") ? 0 : Number(headers.get("Content-Length")) || 0;

/**
 * As download, piece by piece (?offset=&count=), each of which is asked for again where the network fails.
 */
async function downloadPieces(url, { what, total, onProgress, signal, ...init }) {
  const bytes = room(total, what);
  const report = meter(total, onProgress);
  report(0);
  for (let offset = 0; offset < total;) {
    const count = Math.min(pieceBytes, total - offset);
    const part = await insist(async () => {
      const response = await open(`${url}?offset=${offset}&count=${count}`, what, { ...init, signal });
      const came = new Uint8Array(await response.arrayBuffer());
      if (came.length !== count) throw new Error(`${came.length} of ${count} bytes came`);
      return came;
    }, signal);
    bytes.set(part, offset);
    report((offset += count));
  }
  report(total, true);
  return bytes;
}

/**
 * Fetches `url`. `what` names it in messages; `total` is its size if known; `onProgress` receives
 * {received, total, perSecond, remainingMs} (null: unknown); `signal` stops it. Other options go to
 * fetch. Throws a RunError: cancelled, io (rejected, interrupted) or limit (no memory). `pieces`: for a
 * server that sends parts, on a network that may break.
 */
export async function download(url, { what, total = 0, onProgress = () => {}, signal, pieces, ...init }) {
  let received = 0;
  const whole = async () => {
    received = 0;
    const response = await open(url, what, { ...init, signal });
    const expected = total || announced(response);
    const report = meter(expected, onProgress);
    let bytes = room(expected || firstRoom, what);
    const reader = response.body.getReader();
    report(0);
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      if (received + value.length > bytes.length) {
        const more = room(Math.max(2 * bytes.length, received + value.length), what);
        more.set(bytes.subarray(0, received));
        bytes = more;
      }
      bytes.set(value, received);
      report((received += value.length));
    }
    // Without TLS Chromium takes an answer that is cut off in its headers for a whole one.
    if (pieces && received !== Number(response.headers.get("Content-Length") ?? -1))
      throw new Error("the answer was cut off");
    report(received, true);
    return received === bytes.length ? bytes : bytes.slice(0, received);
  };
  try {
    if (pieces && total > 0) return await downloadPieces(url, { what, total, onProgress, signal, ...init });
    return await (pieces ? insist(whole, signal) : whole());
  } catch (error) {
    if (signal?.aborted) throw new RunError("cancelled", "Stopped.");
    if (error instanceof RunError) throw error;
    const came = received > 0 ? ` after ${megabytes(received)}` : "";
    throw new RunError("io", `${what}: the connection was interrupted${came} (${error.message}).`);
  }
}
