// driftscope stats: tests of hypotheses on files with a column of numbers.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { run, temporaryFolder } from "../support.mjs";

const files = {
  "a.csv": "top-1\r\n0.91\r\n0.87\r\n\r\n0.93 # lenet\r\n0.78\r\n0.66\r\n0.95\r\n0.81\r\n0.72\r\n",
  "b.csv": "0.90\n0.86\n0.91\n0.79\n0.61\n0.92\n0.77\n0.69\n",
  "text.csv": "1\n2\noops\n",
  "short.csv": "1\n2\n",
  "right.csv": "1\n1\n0\n1\n1\n1\n1\n1\n1\n1\n",
  "wrong.csv": "0\n1\n0\n0\n0\n0\n1\n0\n0\n0\n",
  "p.csv": "0.01\n0.04\n0.03\n",
};

function folder(t) {
  const path = temporaryFolder(t);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(path, name), text);
  return path;
}

test("Stats_Json_IsTheContractAndFirst", (t) => {
  const cwd = folder(t);
  // Differences in hundredths: 1 1 2 -1 5 3 4 3, as doubles.
  const { status, stdout, stderr } = run(["stats", "wilcoxon", "a.csv", "b.csv", "--json", "-"], { cwd });
  assert.equal(status, 0, stderr);
  const document = JSON.parse(stdout);
  const keys = ["format", "test", "n", "statistic", "p", "exact", "effect"];
  assert.deepEqual(Object.keys(document).slice(0, keys.length), keys);
  assert.deepEqual(
    [document.format, document.test, document.n, document.exact],
    ["driftscope-stats-1", "wilcoxon", 8, true],
  );
  assert.deepEqual(document.effect, { name: "A", value: 7 / 8, size: "large" });
  assert.equal(document.figures.w_plus + document.figures.w_minus, 36);
  // Without a file, wherever it stands, --json is the standard output.
  for (const args of [
    ["stats", "wilcoxon", "a.csv", "b.csv", "--json"],
    ["stats", "--json", "wilcoxon", "a.csv", "b.csv"],
  ])
    assert.equal(run(args, { cwd, checkDocuments: false }).stdout, stdout);
});

test("Stats_Text_SaysWhatItMeans", (t) => {
  const cwd = folder(t);
  const { status, stdout } = run(["stats", "wilcoxon", "a.csv", "b.csv", "--alternative", "greater"], {
    cwd,
  });
  assert.equal(status, 0);
  assert.match(
    stdout,
    /a\.csv is larger than b\.csv in 7 of 8 pairs, smaller in 1, equal in 0: p = [\d.]+ \(exact, one-/,
  );
  assert.match(stdout, /Significant \(p < 0\.05\)/);
  assert.match(stdout, /A = 0\.875 \(large\)/);
  const mcnemar = run(["stats", "mcnemar", "right.csv", "wrong.csv"], { cwd }).stdout;
  assert.match(
    mcnemar,
    /2 are right in both, 7 in right\.csv alone, 0 in wrong\.csv alone, 1 in neither: p = 0\.0156/,
  );
  const holm = run(["stats", "holm", "p.csv"], { cwd }).stdout;
  assert.match(holm, /1 of 3 tests are significant at 0\.05/);
  assert.match(holm, /1: 0\.01 -> 0\.03 significant/);
});

test("Stats_BadInput_SaysWhereAndWhat", (t) => {
  const cwd = folder(t);
  const fault = (args, pattern) => {
    const { status, stderr } = run(["stats", ...args], { cwd });
    assert.equal(status, 2, args.join(" "));
    assert.match(stderr, pattern);
  };
  fault(["wilcoxon", "a.csv", "text.csv"], /text\.csv:3: 'oops' is not a number; expected one number a line/);
  fault(
    ["wilcoxon", "a.csv", "short.csv"],
    /a\.csv:5: the first value without a partner: a\.csv has 8 values, short\.csv has 2/,
  );
  fault(["wilcoxon", "short.csv", "short.csv"], /too few values: 2 pairs cannot reach p < 0\.05.*at least 6/);
  fault(["wilcoxon", "a.csv"], /1 file was given; expected two/);
  fault(["wilcoxon", "a.csv", "none.csv"], /none\.csv/);
  fault(["t-test", "a.csv", "b.csv"], /no test 't-test'; expected one of: wilcoxon, mann-whitney/);
  fault(["mann-whitney", "a.csv", "b.csv", "--paired"], /--paired does not apply/);
  fault(["mcnemar", "a.csv", "b.csv"], /neither 0 nor 1.*--labels/);
  fault(["mcnemar", "right.csv", "wrong.csv", "--labels", "short.csv"], /short\.csv has 2 labels/);
});

test("Stats_Bootstrap_IsSeeded", (t) => {
  const cwd = folder(t);
  const interval = (...more) =>
    JSON.parse(run(["stats", "bootstrap", "a.csv", "b.csv", ...more, "--json", "-"], { cwd }).stdout)
      .interval;
  assert.deepEqual(interval(), interval("--seed", "42"));
  assert.notDeepEqual(interval(), interval("--seed", "7"));
  const { low, high, method } = interval("--paired", "--interval", "percentile");
  assert.ok(low > 0 && high < 0.05 && method === "percentile bootstrap");
});
