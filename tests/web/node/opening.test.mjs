// Which of the chosen files are studies, attacks and training curves.
import assert from "node:assert/strict";
import { test } from "node:test";

import { readAll, resultFiles } from "../../../web/page/opening.mjs";

const files = (...paths) =>
  paths.map((path) => ({ path, file: { size: 1, arrayBuffer: async () => new ArrayBuffer(1) } }));
const found = (...paths) => resultFiles(files(...paths));
const kept = (...paths) =>
  Object.values(found(...paths))
    .flat()
    .map(({ path }) => path);

test("of a study, an attack, a training only what they consist of is read", () => {
  const study = ["s/study.json", "s/cells.jsonl", "s/sizes.json"];
  const attack = ["s2/attack.json", "s2/originals.npy", "s2/pc-strict.npy"];
  assert.deepEqual(
    kept(
      ...study,
      "s/report.html",
      "s/claims.csv",
      "s/adversarials/net-fgsm/originals.npy",
      "s/generated/net-d/attack.json",
      ...attack,
      "s2/pc-strict/0/4.png",
      "s2/old/pc-fast.npy",
      "t/training.json",
      "t/setup.json",
      "t/lenet1/repetition-0/result.json",
      "t/lenet1/repetition-0/jax.safetensors",
    ).sort(),
    [...study, ...attack, "t/training.json"].sort(),
  );
  assert.equal(found(...study, "s/net.onnx").marked.length, 3);
  assert.equal(found("s/history.json", "s/net.onnx").marked.length, 0);
  // Of several studies each in its folder.
  assert.deepEqual(kept("all/a/cells.jsonl", "all/b/cells.jsonl", "all/index.html"), [
    "all/a/cells.jsonl",
    "all/b/cells.jsonl",
  ]);
});

test("of a folder of logs event files are read, of files without a folder each that may be one", () => {
  const events = ["logs/train/events.out.tfevents.1.host", "logs/val/events.out.tfevents.2.host"];
  assert.deepEqual(kept(...events, "logs/config.json", "logs/model.txt"), events);
  assert.deepEqual(kept("logs/a.csv", "logs/b.json", "logs/c.png"), ["logs/a.csv", "logs/b.json"]);
  const loose = ["attack.json", "originals.npy", "table.CSV", "events.out.tfevents.1"];
  assert.deepEqual(kept(...loose, "picture.png"), loose);
  assert.deepEqual(kept("picture.png", "f/tfevents/x.png"), []);
});

test("more than the page can hold is refused with its size before anything is read", async () => {
  const unread = (size) => ({
    path: "big.csv",
    file: { size, arrayBuffer: () => assert.fail("it was read") },
  });
  await assert.rejects(
    readAll([unread(600 * 2 ** 20)]),
    /big\.csv has 600 MiB; the page opens files of up to 512 MiB/,
  );
  await assert.rejects(readAll([1, 2, 3].map(() => unread(400 * 2 ** 20))), /1200 MiB together/);
  await assert.rejects(readAll(Array(2001).fill(unread(1))), /2001 files; at most 2000/);
  const [{ path, bytes }] = await readAll(files("a.csv"));
  assert.deepEqual([path, bytes.length], ["a.csv", 1]);
});
