// Firefox's own remote protocol, without geckodriver: messages of JSON with their lengths before them.
// Client: phones.mjs.
import { connect } from "node:net";

import { until } from "../../e2e/support.mjs";

/** The bytes so far as messages; what is left of them is the second. */
function split(bytes) {
  const messages = [];
  for (;;) {
    const colon = bytes.indexOf(":");
    const end = colon + 1 + Number(bytes.subarray(0, Math.max(colon, 0)).toString());
    if (colon < 0 || bytes.length < end) return [messages, bytes];
    messages.push(JSON.parse(bytes.subarray(colon + 1, end).toString()));
    bytes = bytes.subarray(end);
  }
}

/** A session: `ask(command, parameters)` resolves to the result. */
export async function marionetteAt(t, port) {
  const socket = await until(
    () =>
      new Promise((resolve) => {
        const made = connect(port, "127.0.0.1", () => resolve(made)).on("error", () => resolve(null));
      }),
    "Firefox's Marionette",
    120_000,
  );
  t.after(() => socket.destroy());
  const waiting = new Map();
  let count = 0;
  let rest = Buffer.alloc(0);
  socket.on("data", (data) => {
    const [messages, left] = split(Buffer.concat([rest, data]));
    rest = left;
    for (const message of messages) {
      if (!Array.isArray(message)) continue; // its greeting
      const [, id, error, result] = message;
      const { resolve, reject } = waiting.get(id);
      if (error) reject(new Error(`Marionette: ${error.message}`));
      else resolve(result);
    }
  });
  const ask = (command, parameters = {}) =>
    new Promise((resolve, reject) => {
      waiting.set(++count, { resolve, reject });
      const text = JSON.stringify([0, count, command, parameters]);
      socket.write(`${Buffer.byteLength(text)}:${text}`);
    });
  await ask("WebDriver:NewSession");
  return ask;
}
