// What is written survives a full disk, a kill and a loss of power at every single call: tests/disk.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, realpathSync } from "node:fs";
import { extname, join } from "node:path";
import { test } from "node:test";
import { contents, forEach, runOnDisk } from "../../disk/failing_disk.mjs";
import { asset, readSafetensors, root, run, sanitized, temporaryFolder } from "../support.mjs";

const lenet1 = asset("models", "lenet1.onnx");
const lenet5 = asset("models", "lenet5.onnx");
const skip =
  sanitized && "AddressSanitizer must be loaded before the failing disk; the native build runs this";

// SQLite's journal is a temporary file of the next bench.
const isTemporary = (name) =>
  /(^|\/)\.[^/]+\.driftscope-\w{6}$/.test(name) || name.endsWith(".sqlite-journal");
const isDatabase = (name) => name.endsWith(".sqlite");

const ends = (path, end) => assert.ok(readFileSync(path, "utf8").trimEnd().endsWith(end), `${path} is cut`);
const isWhole = {
  ".json": (path) => JSON.parse(readFileSync(path, "utf8")),
  ".html": (path) => ends(path, "</html>"),
  ".xml": (path) => ends(path, "</testsuites>"),
  ".safetensors": (path) => readSafetensors(path),
  ".tflite": (path) => assert.equal(run(["run", path, "--quiet"]).status, 0),
};

// Every shard that model.json names is there: a model is whole, or absent.
function graphModelIsWhole(folder) {
  if (!contents(folder).has("model/model.json")) return;
  assert.equal(
    run(["run", join(folder, "model", "model.json"), "--quiet"]).status,
    0,
    "the model is half written",
  );
}

// All of it: readable by the program, undamaged, and no bench without its results.
const database = `import sqlite3, sys
rows = sqlite3.connect(sys.argv[1]).execute
for text in ("PRAGMA integrity_check", "SELECT count(DISTINCT bench) FROM results",
             "SELECT count(*) FROM benches"):
    print(rows(text).fetchone()[0], end=" ")`;
function benches(db) {
  const history = run(["bench", "--history", "--db", db]);
  assert.equal(history.status, 0, history.stderr);
  const { stdout, stderr } = run(["-c", database, db], { program: "/usr/bin/python3" });
  const found = /^ok (\d+) (\d+)$/.exec(stdout.trim());
  assert.ok(found && found[1] === found[2], `${db} is damaged: ${stdout}${stderr}`);
  return Number(found[1]);
}
const bench = (folder) =>
  ["bench", lenet1, "--runs", "2", "--time", "0.001", "--warm-up", "0"].concat(
    ["--quiet", "--db"],
    join(folder, "d", "h.sqlite"),
  );

// `first` writes the old files, `args` replaces them. `check(folder, minBenches)`: checks beyond single
// files.
const cases = {
  Compare_ItsJsonReportAndJUnit: {
    first: (folder) => compare(folder, "pc/fast"),
    args: (folder) => compare(folder, "pc/reference"),
  },
  Run_ItsTrace: {
    first: (folder) => ["run", lenet1, "--trace", join(folder, "t.safetensors"), "--outputs-only"],
    args: (folder) => ["run", lenet1, "--trace", join(folder, "t.safetensors")],
  },
  Baseline_Saved: {
    first: (folder) => baseline(folder, "pc/reference"),
    args: (folder) => baseline(folder, "pc/strict"),
  },
  Export_GraphModelAndTflite: {
    first: (folder) => exported(lenet5, folder),
    args: (folder) => exported(lenet1, folder),
    check: graphModelIsWhole,
    left: ["m.tflite", "model/", /^model\/group1-shard1of1-[0-9a-f]{16}\.bin$/, "model/model.json"],
  },
  Export_IntoNewFolders: {
    args: (folder) => ["export", lenet1, "--tfjs", join(folder, "model")],
    check: graphModelIsWhole,
  },
  ConvertCheck_ItsMap: {
    prepare: (folder) => run(["export", lenet1, "--tflite", join(folder, "m.tflite")]),
    args: (folder) => [
      "convert-check",
      lenet1,
      join(folder, "m.tflite"),
      "--write-map",
      join(folder, "map.json"),
    ],
  },
  Python_ATrace: {
    program: "/usr/bin/python3", // its NumPy is a package
    refused: 1,
    first: (folder) => recorded(folder, 2),
    args: (folder) => recorded(folder, 3000),
  },
  Bench_ItsHistory: { first: bench, args: bench, check: historyIsKept },
  Bench_ANewHistory: { args: bench, check: historyIsKept },
};

function compare(folder, right) {
  const out = (name) => join(folder, name);
  return ["compare", lenet1, "--left", "pc/strict", "--right", right, "--repeat", "1"].concat([
    "--json",
    out("c.json"),
    "--report",
    out("c.html"),
    "--junit",
    out("c.xml"),
  ]);
}
function recorded(folder, count) {
  const code = [
    `import sys; sys.dont_write_bytecode = True; sys.path.insert(0, ${JSON.stringify(join(root, "python"))})`,
    "import numpy; from driftscope import safetensors_file",
    `x = {"x": numpy.ones(${count})}`,
    `safetensors_file.write(${JSON.stringify(join(folder, "t.safetensors"))}, x, {})`,
  ];
  return ["-c", code.join("\n")];
}
function baseline(folder, target) {
  return ["baseline", "save", lenet1, "--targets", target, "--no-times", "--repeat", "1", "--out"].concat(
    join(folder, "b.json"),
  );
}
function exported(model, folder) {
  return ["export", model, "--tfjs", join(folder, "model"), "--tflite", join(folder, "m.tflite")];
}

function historyIsKept(folder, minBenches) {
  const db = join(folder, "d", "h.sqlite");
  if (minBenches > 0 || contents(folder).has("d/h.sqlite"))
    assert.ok(benches(db) >= minBenches, "a bench is lost");
}

// What the file is: of before, of the finished run, temporary, or neither.
function kindOf(name, bytes, before, after) {
  if (isTemporary(name)) return "temporary";
  if (isDatabase(name)) return bytes.toString("latin1");
  if (before.get(name)?.equals(bytes)) return "old";
  if (after.get(name)?.equals(bytes)) return "new";
  return "torn";
}

const isEnd = ({ about }) => about.startsWith("at the end");

async function survivesPowerLoss(scratch, before, { args, program, check, left }, earlier) {
  const old = contents(before);
  const whole = await runOnDisk(scratch, before, args, { how: "states" }, { program });
  assert.equal(whole.status, 0, whole.stderr);
  assert.equal(whole.unseen, undefined, "a file is written past native/os");
  const after = contents(whole.folder);
  const names = [...after.keys()].join("\n");
  assert.equal(after.size, left?.length ?? after.size, `what is left: ${names}`);
  left?.forEach((name, i) => assert.match([...after.keys()][i], new RegExp(name)));
  const different = new Map();
  for (const state of whole.states()) {
    const found = contents(state.folder);
    const kinds = [...found].map(([name, bytes]) => [
      isTemporary(name) ? "" : name,
      kindOf(name, bytes, old, after),
    ]);
    for (const [name, kind] of kinds)
      assert.notEqual(kind, "torn", `${name} is neither old nor new ${state.about}`);
    for (const name of old.keys())
      assert.ok(found.has(name) || !after.has(name), `${name} is lost ${state.about}`);
    if (isEnd(state))
      for (const [name, bytes] of after)
        assert.ok(
          isDatabase(name) || found.get(name)?.equals(bytes),
          `${name} may be undone although the run succeeded: ${state.about}`,
        );
    check?.(state.folder, isEnd(state) ? earlier + 1 : earlier);
    different.set(JSON.stringify(kinds), state);
  }
  assert.ok(different.size > 1);
  await forEach(different.values(), async (state) => {
    const next = await runOnDisk(scratch, state.folder, args, undefined, { program });
    assert.equal(next.status, 0, `the next run fails ${state.about}: ${next.stderr}`);
    assert.equal(
      [...contents(next.folder).keys()].join("\n"),
      names,
      `what the next run leaves ${state.about}`,
    );
    check?.(next.folder, isEnd(state) ? earlier + 2 : earlier + 1);
    next.remove();
  });
  whole.remove();
  return whole.steps;
}

// One failing call, or a full disk from there on: old or new, and said.
async function saysWhatFailed(scratch, before, { args, program, refused = 2, check }, earlier, fault) {
  const old = contents(before);
  const { status, stderr, folder, met, unseen, remove } = await runOnDisk(scratch, before, args, fault, {
    program,
  });
  if (met === undefined) return;
  assert.equal(unseen, undefined);
  const where = `${fault.how} ${met}: ${stderr}`;
  const found = contents(folder);
  // SQLite goes on where nothing is lost, as when a flushed file cannot be closed; `check` looks.
  const harmless = status === 0 && check === historyIsKept;
  if (!harmless) {
    assert.equal(status, refused, where);
    assert.match(
      stderr,
      /No space left on device|Input\/output error|disk I\/O error|disk is full|unable to open/,
      where,
    );
    assert.ok(stderr.includes(folder), where);
  }
  for (const [name, bytes] of found) {
    if (old.get(name)?.equals(bytes) || name.endsWith("-journal")) continue;
    assert.ok(!isTemporary(name), `${name} is left, ${where}`);
    isWhole[extname(name)]?.(join(folder, name));
  }
  for (const name of old.keys())
    assert.ok(found.has(name) || /group1-shard/.test(name), `${name} is lost, ${where}`);
  check?.(folder, harmless ? earlier + 1 : earlier);
  remove();
  return met;
}

// The program is really killed there, and the next run is as any other.
async function survivesKill(scratch, before, { args, program, check }, earlier, at) {
  const killed = await runOnDisk(scratch, before, args, { how: "kill", at }, { program });
  if (killed.met === undefined) return;
  assert.equal(killed.signal, "SIGKILL", killed.met);
  const old = contents(before);
  for (const [name, bytes] of contents(killed.folder))
    if (!isTemporary(name) && !old.get(name)?.equals(bytes))
      isWhole[extname(name)]?.(join(killed.folder, name));
  check?.(killed.folder, earlier);
  if (check === historyIsKept) return killed.remove(); // of what is left then, survivesPowerLoss has them all
  const next = await runOnDisk(scratch, killed.folder, args, undefined, { program });
  assert.equal(next.status, 0, `${killed.met}: ${next.stderr}`);
  assert.deepEqual([...contents(next.folder).keys()].filter(isTemporary), [], killed.met);
  check?.(next.folder, earlier + 1);
  killed.remove();
  next.remove();
}

for (const [name, one] of Object.entries(cases)) {
  test(`PowerLoss_${name}_AreOldOrNewAtEveryCall`, { skip }, async (t) => {
    const scratch = realpathSync(temporaryFolder(t));
    const before = join(scratch, "before");
    mkdirSync(before);
    one.prepare?.(before);
    if (one.first) assert.equal(run(one.first(before), one).status, 0);
    const earlier = one.check === historyIsKept && one.first ? 1 : 0;
    const steps = await survivesPowerLoss(scratch, before, one, earlier);
    assert.ok(steps > 5, `${steps} calls`);
    const numbers = Array.from({ length: steps + 1 }, (_, i) => i + 1);
    const needSpace = [];
    await forEach(numbers, async (at) => {
      const met = await saysWhatFailed(scratch, before, one, earlier, { how: "fail", at });
      if (/^\d+ (create|write|make)/.test(met)) needSpace.push(at);
    });
    await forEach(needSpace, (at) => saysWhatFailed(scratch, before, one, earlier, { how: "full", at }));
    if (one.first) await forEach(numbers, (at) => survivesKill(scratch, before, one, earlier, at));
  });
}
