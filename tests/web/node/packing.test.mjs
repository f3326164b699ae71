// Bodies are packed where that is faster than sending them as they are, and go as they are elsewhere.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { Packing } from "../../../web/shared/packing.mjs";

const zeros = new Uint8Array(100_000);
const noise = new Uint8Array(randomBytes(100_000));

// A clock by which packing takes `ms`.
function clock(ms) {
  let now = 0;
  return () => (now += ms / 2);
}

test("on a slow network what becomes shorter is packed", async () => {
  const packing = new Packing(clock(2));
  const first = await packing.pack(zeros);
  assert.deepEqual(first, { body: zeros, query: "" });
  packing.sent(zeros.length, 1000);
  for (let i = 0; i < 3; ++i) {
    const { body, query } = await packing.pack(zeros);
    assert.equal(query, "&unpacked=100000");
    assert.ok(body.length < 1000);
    assert.deepEqual(new Uint8Array(gunzipSync(body)), zeros);
  }
});

test("on a fast network bodies go as they are", async () => {
  const packing = new Packing(clock(1000));
  await packing.pack(zeros);
  packing.sent(zeros.length, 1);
  assert.notEqual((await packing.pack(zeros)).query, ""); // tried once
  for (let i = 0; i < 3; ++i) assert.equal((await packing.pack(zeros)).query, "");
});

test("what does not become shorter goes as it is", async () => {
  const packing = new Packing(clock(2));
  await packing.pack(noise);
  packing.sent(noise.length, 1000);
  for (let i = 0; i < 3; ++i) assert.deepEqual(await packing.pack(noise), { body: noise, query: "" });
});

test("both are tried again after a while: networks change", async () => {
  const packing = new Packing(clock(2));
  for (let i = 0; i < 32; ++i) {
    await packing.pack(zeros);
    packing.sent(zeros.length, i === 0 ? 1 : 0.001); // fast
  }
  assert.equal((await packing.pack(zeros)).query, "");
  packing.sent(zeros.length, 1000); // and slow now
  assert.notEqual((await packing.pack(zeros)).query, "");
  assert.notEqual((await packing.pack(zeros)).query, "");
});

test("short bodies, and those of browsers that cannot pack, go as they are", async (t) => {
  const packing = new Packing(clock(2));
  const short = new Uint8Array(4095);
  for (let i = 0; i < 3; ++i) assert.deepEqual(await packing.pack(short), { body: short, query: "" });
  const { CompressionStream } = globalThis;
  delete globalThis.CompressionStream;
  t.after(() => (globalThis.CompressionStream = CompressionStream));
  await packing.pack(zeros);
  packing.sent(zeros.length, 1000);
  assert.deepEqual(await packing.pack(zeros), { body: zeros, query: "" });
});
