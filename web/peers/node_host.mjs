// Peers in a Node process, for targets on the PC: web/peers/peers.mjs behind a socket, which is file 3.
// Started by native/peers/node. A message is two little-endian sizes (32 bits: JSON, 64 bits: payload), the
// JSON, the payload; bytes that a request or a reply refers to lie in its payload: {at, bytes}. Every request
// has a reply. Where it begins work, the reply says so, and {"settled":true} follows once that is done.
//
// usage: node node_host.mjs SITE [PACKAGES], the folder of the built page, and that of fetched packages.
import "../shared/node_relaxed_simd.mjs";
import { Socket } from "node:net";
import { pathToFileURL } from "node:url";

import { Peers } from "./peers.mjs";

const headBytes = 12;
const socket = new Socket({ fd: 3, readable: true, writable: true });
const [, , site, packages] = process.argv;
const engine = new URL("engine/", pathToFileURL(`${site}/`));
const peers = new Peers(engine, undefined, packages ? pathToFileURL(`${packages}/`) : null);

// Written at once where the socket has room: the work that begins next may block this thread.
function send(message, payload) {
  const text = Buffer.from(JSON.stringify(message));
  const head = Buffer.alloc(headBytes);
  head.writeUInt32LE(text.length, 0);
  head.writeBigUInt64LE(BigInt(payload?.length ?? 0), 4);
  socket.write(Buffer.concat([head, text]));
  if (payload?.length > 0) socket.write(payload);
}

// One buffer for both payloads, in which the reply's begins at `reply_at`.
function answer({ reply_at, reply_bytes, ...request }, payload) {
  const memory = { buffer: new ArrayBuffer(reply_at + reply_bytes) };
  new Uint8Array(memory.buffer).set(payload);
  const reply = peers.request(request, memory);
  const working = request.do === "create" || request.do === "run";
  send({ ...reply, working }, new Uint8Array(memory.buffer, reply_at, reply_bytes));
  if (working) peers.idle().then(() => send({ settled: true }));
}

let chunks = [];
let have = 0;
let need = headBytes;

function take(size) {
  const all = chunks.length === 1 ? chunks[0] : Buffer.concat(chunks);
  chunks = [all.subarray(size)];
  have -= size;
  return all.subarray(0, size);
}

function sizes() {
  const all = (chunks = [Buffer.concat(chunks)])[0];
  const json = all.readUInt32LE(0);
  return { json, total: headBytes + json + Number(all.readBigUInt64LE(4)) };
}

socket.on("data", (chunk) => {
  chunks.push(chunk);
  have += chunk.length;
  while (have >= need) {
    const { json, total } = sizes();
    need = total;
    if (have < need) return;
    const message = take(total);
    need = headBytes;
    const payload = message.subarray(headBytes + json);
    answer(JSON.parse(message.toString("utf8", headBytes, headBytes + json)), payload);
  }
});
socket.on("end", () => process.exit(0));
socket.on("error", () => process.exit(1));
