// The locks of tools/setup --frameworks: every package with its version and hash, and what was asked for is
// in them.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const folder = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "tools", "setup.d", "frameworks");
const lines = (name) =>
  readFileSync(join(folder, name), "utf8")
    .split("\n")
    .map((line) => line.replace(/#.*/, "").trim())
    .filter(Boolean);
const locks = readdirSync(folder).filter((name) => name.endsWith(".lock"));

test("there is a lock for each list", () => {
  const lists = readdirSync(folder).filter((name) => name.endsWith(".in"));
  assert.ok(lists.length >= 2);
  for (const list of lists)
    assert.ok(
      locks.some((name) => name.startsWith(list.replace(/in$/, ""))),
      list,
    );
});

for (const lock of locks) {
  test(`${lock} pins every package with a hash, and is of the list beside it`, () => {
    const pinned = new Map();
    for (const line of lines(lock)) {
      const match = /^([a-z0-9-]+)==(\S+) --hash=sha256:[0-9a-f]{64}$/.exec(line);
      assert.ok(match, line);
      assert.ok(!pinned.has(match[1]), `${match[1]} occurs twice`);
      pinned.set(match[1], match[2]);
    }
    for (const line of lines(`${lock.split(".")[0]}.in`)) {
      const without = /^without (\S+)$/.exec(line);
      const [name, version] = line.split("==");
      if (without) assert.ok(!pinned.has(without[1]), line);
      else if (version) assert.equal(pinned.get(name), version, line);
    }
  });
}
