// The session service in a Node process, for the host "node": our engines as WebAssembly without a browser.
// Started by native/host/hosts/node, on a socket, which is file 3: a message is its length (64 bits,
// little-endian) and its bytes, as message.mjs packs them; every one is answered, in order.
//
// usage: node node_service.mjs SITE VARIANT THREADS MEMORY: the folder of the built page, the build of the
// engine, its threads, and the bytes that tensors may take (0: all that there is).
import "../shared/node_relaxed_simd.mjs";
import { Socket } from "node:net";
import { pathToFileURL } from "node:url";

import { openEngine } from "./engine.mjs";
import { packMessage, unpackMessage } from "../shared/message.mjs";

const headBytes = 8;
const [site, variant, threads, memory] = process.argv.slice(2);
const socket = new Socket({ fd: 3, readable: true, writable: true });
const opened = openEngine({
  base: new URL("engine/", pathToFileURL(`${site}/`)),
  variant,
  threads: Number(threads),
  memory: Number(memory),
});
opened.catch(() => {}); // the answer to the first message says why

async function answer(message) {
  try {
    const engine = await opened;
    const { head, payload } = unpackMessage(message);
    const { do: name, ...fields } = head;
    const reply = engine.request(name, fields, payload);
    if (name === "start") await engine.prepared();
    if (reply.head.waiting) await engine.settled();
    return packMessage(reply.head, [reply.payload]);
  } catch ({ kind = "internal", message: text }) {
    return packMessage({ error: { kind, message: text } }, []);
  }
}

async function respond(message) {
  const reply = await answer(message);
  const head = Buffer.alloc(headBytes);
  head.writeBigUInt64LE(BigInt(reply.length));
  socket.write(head);
  socket.write(reply);
}

let chunks = [];
let have = 0;
let need = headBytes;
let answered = Promise.resolve();

socket.on("data", (chunk) => {
  chunks.push(chunk);
  have += chunk.length;
  while (have >= need) {
    const all = chunks.length === 1 ? chunks[0] : Buffer.concat(chunks);
    need = headBytes + Number(all.readBigUInt64LE());
    chunks = [all];
    if (have < need) return;
    const message = new Uint8Array(all.subarray(headBytes, need)); // a copy: it begins where typed arrays may
    chunks = [all.subarray(need)];
    have -= need;
    need = headBytes;
    answered = answered.then(() => respond(message));
  }
});
socket.on("end", () => process.exit(0));
socket.on("error", () => process.exit(1));
