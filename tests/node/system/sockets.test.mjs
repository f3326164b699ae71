// Connections as the program asks for them: descriptors, events, and errors with the names of errnos.
import assert from "node:assert/strict";
import net from "node:net";
import { PassThrough } from "node:stream";
import { test } from "node:test";

import { Sockets } from "../../../node/system/sockets.mjs";

const IN = 1;
const OUT = 4;
const INVALID = 32;
const later = (condition) =>
  new Promise((resolve, reject) => {
    const end = Date.now() + 5000;
    const look = () =>
      condition() ? resolve() : Date.now() > end ? reject(new Error("it did not come")) : setTimeout(look, 2);
    look();
  });
const done = (start) => new Promise((resolve) => start(resolve));
const text = (sockets, fd) => {
  const bytes = new Uint8Array(100);
  return new TextDecoder().decode(bytes.subarray(0, sockets.receive(fd, bytes)));
};
const send = (sockets, fd, what) => sockets.send(fd, new TextEncoder().encode(what));

test("Sockets_ServerAndClient_TalkAndSeeTheEnd", async () => {
  const sockets = new Sockets();
  const listener = sockets.open();
  sockets.bind(listener, "127.0.0.1", 0);
  assert.equal(await done((resolve) => sockets.listen(listener, resolve)), undefined);
  const { port } = sockets.address(listener);
  assert.throws(() => sockets.accept(listener), { code: "EAGAIN" });
  const client = sockets.open();
  assert.equal(await done((resolve) => sockets.connect(client, "127.0.0.1", port, resolve)), undefined);
  await later(() => sockets.events(listener) & IN);
  const server = sockets.accept(listener);
  assert.throws(() => sockets.receive(server, new Uint8Array(4)), { code: "EAGAIN" });
  assert.ok(sockets.events(server) & OUT);
  let woken = 0;
  sockets.watch(1, [[server, IN]], () => ++woken);
  send(sockets, client, "hello");
  await later(() => woken === 1);
  assert.equal(sockets.receive(server, new Uint8Array(2), true), 2); // looked at, not taken
  assert.equal(text(sockets, server), "hello");
  sockets.shutdown(client, 1);
  await later(() => sockets.events(server) & IN);
  assert.equal(sockets.receive(server, new Uint8Array(4)), 0);
  sockets.close(server);
  sockets.close(client);
  sockets.close(listener);
  assert.equal(sockets.events(server), INVALID);
});

test("Sockets_ClosedWhileTheReaderIsSlow_EverythingArrives", async () => {
  const sockets = new Sockets();
  const listener = sockets.open();
  sockets.bind(listener, "127.0.0.1", 0);
  await done((resolve) => sockets.listen(listener, resolve));
  const reader = net.connect(sockets.address(listener).port, "127.0.0.1");
  reader.pause();
  await later(() => sockets.events(listener) & IN);
  const server = sockets.accept(listener);
  const size = 12 << 20;
  let arrived = 0;
  let sent = 0;
  // Until neither the kernel nor the program takes any more.
  while (sockets.events(server) & OUT && sent < size) {
    sent += sockets.send(server, new Uint8Array(1 << 20));
    await new Promise((resolve) => setImmediate(resolve));
  }
  sockets.shutdown(server, 2);
  sockets.close(server);
  await new Promise((resolve) => setTimeout(resolve, 3000));
  reader.on("data", (bytes) => (arrived += bytes.length));
  reader.resume();
  let closed = false;
  reader.once("close", () => (closed = true)).on("error", () => {});
  await later(() => closed);
  assert.equal(arrived, sent);
  sockets.close(listener);
});

test("Sockets_PortInUseOrNobodyThere_AreErrors", async () => {
  const sockets = new Sockets();
  const [first, second, client] = [sockets.open(), sockets.open(), sockets.open()];
  sockets.bind(first, "127.0.0.1", 0);
  await done((resolve) => sockets.listen(first, resolve));
  const { port } = sockets.address(first);
  sockets.bind(second, "127.0.0.1", port);
  assert.equal(await done((resolve) => sockets.listen(second, resolve)), "EADDRINUSE");
  sockets.close(first);
  await later(() => true);
  assert.equal(await done((resolve) => sockets.connect(client, "127.0.0.1", port, resolve)), "ECONNREFUSED");
  assert.throws(() => sockets.send(99 << 20, new Uint8Array(1)), { code: "EBADF" });
});

test("Sockets_PairWhoseOtherEndAProcessHas_IsItsStream", async () => {
  const sockets = new Sockets();
  const [stays, given] = sockets.pair();
  send(sockets, stays, "sent early ");
  const toProcess = new PassThrough();
  sockets.give(given, toProcess); // what is written to it comes back
  send(sockets, stays, "and late");
  let got = "";
  await later(() => {
    if (sockets.events(stays) & IN) got += text(sockets, stays);
    return got === "sent early and late";
  });
  toProcess.destroy();
  await later(() => sockets.events(stays) & IN);
  assert.equal(sockets.receive(stays, new Uint8Array(4)), 0);
  assert.throws(() => send(sockets, stays, "x"), { code: "EPIPE" });
});
