// Messages of JSON and bytes, as in core/protocol/service.hpp: 4 bytes of length, the JSON, the
// payload. Clients: batch.mjs, values.mjs.

export function packMessage(head, parts) {
  const text = new TextEncoder().encode(JSON.stringify(head));
  const size = parts.reduce((sum, part) => sum + part.length, 4 + text.length);
  const message = new Uint8Array(size);
  new DataView(message.buffer).setUint32(0, text.length, true);
  message.set(text, 4);
  let at = 4 + text.length;
  for (const part of parts) {
    message.set(part, at);
    at += part.length;
  }
  return message;
}

export function unpackMessage(message) {
  const view = new DataView(message.buffer, message.byteOffset);
  const size = view.getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(message.subarray(4, 4 + size)));
  return { head, payload: message.subarray(4 + size) };
}
