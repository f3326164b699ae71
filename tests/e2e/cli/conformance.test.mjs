// The conformance command on the PC: the whole set, and wrong usage.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { root, run, start, temporaryFolder, sanitized } from "../support.mjs";

// "case<TAB>reason", one per line: all unsupported cases, and why.
const skips = new Map(
  readFileSync(join(root, "tests", "data", "conformance-skips.txt"), "utf8")
    .split("\n")
    .filter((line) => line && !line.startsWith("#"))
    .map((line) => line.split("\t")),
);

test(
  "Conformance_WholeSetOnReferenceAndStrict_PassesButForTheListedSkips",
  { skip: sanitized && "the unit tests run all cases with sanitizers" },
  (t) => {
    const json = join(temporaryFolder(t), "conformance.json");
    const { status, stdout, stderr } = run(["conformance", "--json", json], { timeout: 600_000 });
    assert.equal(status, 0, stdout + stderr);
    const { format, targets } = JSON.parse(readFileSync(json, "utf8"));
    assert.equal(format, "driftscope-conformance-1");
    assert.deepEqual(
      targets.map((one) => one.target),
      ["pc/reference", "pc/strict"],
    );
    for (const one of targets) {
      assert.equal(one.failed, 0);
      const unsupported = one.cases.filter((c) => c.result === "not supported").map((c) => c.name);
      assert.deepEqual(
        unsupported.filter((name) => !skips.has(name)),
        [],
        `${one.target}: skips that are not listed`,
      );
      assert.deepEqual(
        [...skips.keys()].filter((name) => !unsupported.includes(name)),
        [],
        `${one.target}: listed, but it runs`,
      );
      t.diagnostic(`${one.target}: ${one.passed} passed, ${one.not_supported} not supported`);
    }
  },
);

test("Conformance_FilterAndSample_ChooseTheSameCasesForTheSameSeed", (t) => {
  const folder = temporaryFolder(t);
  const names = (...more) => {
    const json = join(folder, "c.json");
    const { status, stdout, stderr } = run([
      "conformance",
      "--targets",
      "pc/strict",
      "--json",
      json,
      ...more,
    ]);
    assert.equal(status, 0, stdout + stderr);
    return JSON.parse(readFileSync(json, "utf8")).targets[0].cases.map((c) => c.name);
  };
  const relu = names("--filter", "test_relu*");
  assert.ok(relu.length >= 1 && relu.every((name) => name.startsWith("test_relu")));
  const some = names("--filter", "test_add*", "--sample", "2", "--seed", "7");
  assert.equal(some.length, 2);
  assert.deepEqual(names("--filter", "test_add*", "--sample", "2", "--seed", "7"), some);
});

test("Conformance_WrongExpectation_IsNamedAndFails", (t) => {
  const folder = temporaryFolder(t);
  const from = "/usr/share/libonnx-testdata/data/node/test_relu";
  const to = join(folder, "node", "test_relu");
  mkdirSync(join(to, "test_data_set_0"), { recursive: true });
  writeFileSync(join(to, "model.onnx"), readFileSync(join(from, "model.onnx")));
  writeFileSync(
    join(to, "test_data_set_0", "input_0.pb"),
    readFileSync(join(from, "test_data_set_0", "input_0.pb")),
  );
  // The input is expected as output: Relu changes it.
  writeFileSync(
    join(to, "test_data_set_0", "output_0.pb"),
    readFileSync(join(from, "test_data_set_0", "input_0.pb")),
  );
  const { status, stdout } = run(["conformance", "--data", folder, "--targets", "pc/strict"]);
  assert.equal(status, 1, stdout);
  assert.match(stdout, /pc\/strict\s+node\/test_relu: output y: element \d+: expected -/);
});

const linesOf = (store) =>
  existsSync(store) ? readFileSync(store, "utf8").split("\n").filter(Boolean).length : 0;

test("Conformance_KilledAndRepeatedWithItsStore_GivesTheResultsOfOneRun", async (t) => {
  const folder = temporaryFolder(t);
  const store = join(folder, "store");
  const cases = ["conformance", "--filter", "test_[a-h]*"];
  const straight = run([...cases, "--json", "-"]);
  assert.equal(straight.status, 0, straight.stderr);
  const { targets } = JSON.parse(straight.stdout);
  const cells = targets.reduce((sum, one) => sum + one.cases.length, 0);
  const seed = Number(process.env.DRIFTSCOPE_SEED ?? Date.now() % 1_000_000);
  t.diagnostic(`seed ${seed}: set DRIFTSCOPE_SEED to repeat`);
  let state = seed;
  const random = () => (state = (state * 48271 + 11) % 2147483647) / 2147483647;
  let kept = "";
  let interrupted = 0;
  for (const signal of ["SIGKILL", "SIGINT", "SIGKILL"]) {
    const wanted = linesOf(store) + 1 + Math.floor(random() * 60);
    const { child, done } = start([...cases, "--store", store, "--json", "-"]);
    const timer = setInterval(() => linesOf(store) >= wanted && child.kill(signal), 2);
    const ended = await done;
    clearInterval(timer);
    if (ended.status === 0) break;
    ++interrupted;
    assert.equal(ended.signal, signal, ended.stderr);
    const now = readFileSync(store, "utf8");
    assert.ok(now.startsWith(kept.slice(0, kept.lastIndexOf("\n") + 1)), "what was there has changed");
    kept = now;
  }
  assert.ok(interrupted > 0, "no run was interrupted");
  const before = linesOf(store);
  t.diagnostic(`${interrupted} interruptions, ${before - 1} of ${cells} results kept`);
  const resumed = run([...cases, "--store", store, "--json", "-"]);
  assert.equal(resumed.status, 0, resumed.stderr);
  assert.equal(resumed.stdout, straight.stdout);
  assert.equal(linesOf(store), cells + 1);
  // Nothing is left to do, and the answer is the same.
  const bytes = readFileSync(store);
  assert.equal(run([...cases, "--store", store, "--json", "-"]).stdout, straight.stdout);
  assert.deepEqual(readFileSync(store), bytes);
});

test("Conformance_StoreOfOtherCases_IsRefusedAndKept", (t) => {
  const store = join(temporaryFolder(t), "store");
  const args = ["conformance", "--store", store, "--targets", "pc/strict", "--filter"];
  assert.equal(run([...args, "test_relu*"]).status, 0);
  const bytes = readFileSync(store);
  const other = run([...args, "test_add*"]);
  assert.equal(other.status, 2);
  assert.match(other.stderr, /--store \S+: is the store of another campaign \('cases'.* in it, .* now\)/);
  assert.deepEqual(readFileSync(store), bytes);
  // Further targets go into the same store.
  assert.equal(run(["conformance", "--store", store, "--filter", "test_relu*"]).status, 0);
  writeFileSync(store, "notes\n");
  assert.match(run([...args, "test_relu*"]).stderr, /is not the store of a campaign/);
  assert.equal(readFileSync(store, "utf8"), "notes\n");
});

test("Conformance_WrongUse_IsExplained", (t) => {
  const nothing = run(["conformance", "--filter", "no_such_case"]);
  assert.equal(nothing.status, 2);
  assert.match(nothing.stderr, /no case matches/);
  const absent = run(["conformance", "--data", join(temporaryFolder(t), "absent")]);
  assert.equal(absent.status, 3);
  assert.match(absent.stderr, /libonnx-testdata/);
  assert.equal(run(["conformance", "--targets", "file/x"]).status, 2);
});
