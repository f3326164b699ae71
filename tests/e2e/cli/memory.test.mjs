// What a large model takes of memory: the peak of the program's own PSS.
import assert from "node:assert/strict";
import { closeSync, ftruncateSync, openSync, readFileSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { run, sanitized, start, temporaryFolder } from "../support.mjs";
import { interfaceValue, number, part, text } from "../tiny_onnx.mjs";

const mib = 2 ** 20;

/** Runs the program; resolves to {status, stdout, stderr, peak}: in bytes, sampled every 20 ms. */
async function watched(args) {
  const { child, done } = start(args);
  let peak = 0;
  const timer = setInterval(() => {
    try {
      const pss = /^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${child.pid}/smaps_rollup`, "latin1"));
      peak = Math.max(peak, 1024 * Number(pss?.[1] ?? 0));
    } catch {} // it has ended
  }, 20);
  const ended = await done;
  clearInterval(timer);
  return { ...ended, peak };
}

const pcOnly = { skip: sanitized && "AddressSanitizer has memory of its own" };

/** Rows of an embedding of `rows` × `columns` float32 in the file "weights.bin", chosen by a constant. */
function embedding(rows, columns) {
  const external = (key, value) => part(13, text(1, key), text(2, String(value)));
  const weights = part(
    5,
    number(1, rows),
    number(1, columns),
    number(2, 1),
    text(8, "w"),
    external("location", "weights.bin"),
    external("length", rows * columns * 4),
    number(14, 1),
  );
  const chosen = Buffer.from(BigInt64Array.from([0n, 7n, BigInt(rows - 1)]).buffer);
  const graph = part(
    7,
    part(1, text(1, "w"), text(1, "i"), text(2, "rows"), text(3, "gather"), text(4, "Gather")),
    part(1, text(1, "rows"), text(1, "x"), text(2, "y"), text(3, "add"), text(4, "Add")),
    text(2, "embedding"),
    weights,
    part(5, number(1, 3), number(2, 7), text(8, "i"), part(9, chosen)),
    interfaceValue(11, "x", [3, columns]),
    interfaceValue(12, "y", [3, columns]),
  );
  return Buffer.concat([number(1, 8), graph, part(8, number(2, 13))]);
}

test("LargeModel_ExternalDataAbove2GiB_IsMappedAndOnlyWhatIsReadTakesMemory", pcOnly, async (t) => {
  const folder = temporaryFolder(t);
  const model = join(folder, "model.onnx");
  const [rows, columns] = [2 ** 20 + 1, 1024]; // 4 GiB of holes: no disk is used
  writeFileSync(model, embedding(rows, columns));
  const file = openSync(join(folder, "weights.bin"), "w");
  writeSync(file, Buffer.from(Float32Array.of(1.5).buffer), 0, 4, 7 * columns * 4);
  ftruncateSync(file, rows * columns * 4);
  closeSync(file);
  const ran = await watched(["run", model, "--target", "pc/strict", "--times", "0", "--quiet"]);
  assert.equal(ran.status, 0, ran.stderr);
  assert.ok(ran.peak < 200 * mib, `${ran.peak / mib} MiB`);
  const compared = await watched(["compare", model, "--right", "pc/strict", "--times", "0", "--quiet"]);
  assert.equal(compared.status, 0, compared.stderr);
  assert.ok(compared.peak < 200 * mib, `${compared.peak / mib} MiB`);
});

test("LargeModel_OneFileAbove2GiB_IsRefusedWithTheWayOut", (t) => {
  const model = join(temporaryFolder(t), "model.onnx");
  const file = openSync(model, "w");
  writeSync(file, Buffer.concat([number(1, 8)]));
  ftruncateSync(file, 2 ** 31 + 5);
  closeSync(file);
  const refused = run(["run", model, "--target", "pc/strict", "--quiet"]);
  assert.notEqual(refused.status, 0);
  assert.match(refused.stderr, /larger than 2 GiB, the limit of protobuf; save its weights as external data/);
});
