// A minute of tools/soak: the server runs, faults strike, and it says what it saw. What else can be struck
// takes longer than a test may.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

const program = new URL("../../../tools/soak", import.meta.url).pathname;
const soak = (args, timeout) => spawnSync(program, args, { encoding: "utf8", timeout });

test("Soak_AMinuteWithFaults_FindsNothing", (t) => {
  const out = mkdtempSync(join(tmpdir(), "driftscope-soak-"));
  t.after(() => rmSync(out, { recursive: true, force: true }));
  const strikes = ["server killed", "server flooded", "server disk full"];
  const run = soak(["--minutes", "1", "--seed", "22", "--only", strikes.join(), "--out", out], 600_000);
  const read = (name) => readFileSync(join(out, name), "utf8");
  assert.equal(run.status, 0, `${run.stdout}\n${run.stderr}\n${read("events.log").slice(-6000)}`);
  assert.deepEqual(JSON.parse(read("findings.json")), []);
  assert.match(read("verdicts.txt"), /^server: \d+ runs/m);
  assert.match(read("events.log"), /fault ends: server/);
  const [heads, ...rows] = read("samples.csv").trim().split("\n");
  assert.match(heads, /"server memory, bytes"/);
  const columns = heads.match(/"[^"]*"|[^,]+/g).length;
  for (const row of rows) assert.equal(row.split(",").length, columns, row);
  assert.ok(rows.length >= 10, `${rows.length} samples`);
  assert.match(read("curves.svg"), /^<svg[^]*<\/svg>\s*$/);
});

for (const [name, args, message] of [
  ["NoTime", [], /say how long/],
  ["NegativeTime", ["--minutes", "-1"], /--minutes|ambiguous/],
  ["UnknownSubject", ["--minutes", "1", "--only", "nobody"], /no subject or fault/],
  ["PauseBackwards", ["--minutes", "1", "--pause", "6..1"], /expected A\.\.B/],
])
  test(`Soak_${name}_IsWrongUse`, () => {
    const run = soak(args, 60_000);
    assert.equal(run.status, 2, run.stderr);
    assert.match(run.stderr, message);
  });
