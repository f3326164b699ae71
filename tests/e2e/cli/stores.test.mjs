// Results that are kept in databases: a command goes on from them, several campaigns are in one, and
// passwords are in nothing that is written.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { postgresServer } from "../postgres_server.mjs";
import { asset, run, temporaryFolder } from "../support.mjs";

const digits = ["images.idx3-ubyte", "labels.idx1-ubyte"].map((name) => asset("data", `digits-test-${name}`));
const comparison = [
  ...["compare", asset("models", "lenet5.onnx"), "--right", "pc/fast", "--input", "seed:1", "--times", "0"],
  ...["--repeat", "1", "--quiet", "--dataset", `idx:${digits.join(",")}`],
];
const conformance = ["conformance", "--filter", "test_relu*", "--targets", "pc/strict", "--quiet"];

const sides = ({ stdout }) => [JSON.parse(stdout)].flatMap(({ left, right }) => [left, ...right]);
const succeeds = (done) => {
  assert.equal(done.status, 0, done.stderr);
  return done;
};

// Answers of one statement, a line for each row.
function sqlite(file, statement) {
  const script = `import sqlite3, sys
with sqlite3.connect(sys.argv[1]) as rows:
    for row in rows.execute(sys.argv[2]): print(*row)`;
  const done = spawnSync("python3", ["-c", script, file, statement], { encoding: "utf8", timeout: 60_000 });
  return succeeds(done).stdout.trim();
}

// Both commands twice with a store: what it has is taken, and nothing is made again.
function goesOn(store, sql) {
  const rows = () => sql("SELECT count(*), max(number) FROM driftscope_results");
  const first = succeeds(run([...comparison, "--store", store, "--json", "-"]));
  assert.match(rows(), /^900\D900$/);
  assert.equal(sides(first)[0].dataset.correct, 445);
  sql(`UPDATE driftscope_results SET result = '{"class":77}' WHERE item = '0' AND target LIKE 'pc/fast%'`);
  const second = succeeds(run([...comparison, "--store", store, "--json", "-"]));
  assert.match(rows(), /^900\D900$/);
  const [left, right] = sides(second);
  assert.equal(left.dataset.predictions[0], 3);
  assert.equal(right.dataset.predictions[0], 77);
  // Another campaign, beside the first.
  const cases = succeeds(run([...conformance, "--store", store, "--json", "-"]));
  const after = rows();
  assert.ok(parseInt(after, 10) > 900, after);
  assert.equal(succeeds(run([...conformance, "--store", store, "--json", "-"])).stdout, cases.stdout);
  assert.equal(rows(), after);
  assert.equal(sql("SELECT count(*) FROM driftscope_campaigns"), "2");
  return [first, second];
}

test("Store_Sqlite_GoesOnAndHoldsSeveralCampaigns", (t) => {
  const file = join(temporaryFolder(t), "results.db");
  const [first] = goesOn(`sqlite:${file}`, (statement) => sqlite(file, statement));
  assert.match(JSON.parse(first.stdout).command, /--store sqlite:\S+results\.db/);
  // A cell that is gone runs again; the variable names the store, too.
  sqlite(file, "DELETE FROM driftscope_results WHERE item = '17'");
  succeeds(run([...comparison, "--json", "-"], { env: { DRIFTSCOPE_STORE: `sqlite:${file}` } }));
  assert.equal(sqlite(file, "SELECT count(*) FROM driftscope_results WHERE item = '17'"), "2");
});

test("Store_Postgres_GoesOnAndShowsNoPassword", async (t) => {
  const server = await postgresServer(t);
  if (!server) return t.skip("no PostgreSQL server is installed");
  const folder = temporaryFolder(t);
  const report = join(folder, "report.html");
  const store = server.url("s3cret-pass");
  for (const done of goesOn(store, server.sql)) {
    assert.doesNotMatch(done.stdout + done.stderr, /s3cret/);
    assert.match(JSON.parse(done.stdout).command, /--store postgresql:\/\/tester@127\.0\.0\.1/);
  }
  succeeds(run([...comparison, "--store", store, "-o", report, "--save", join(folder, "run.drift")]));
  assert.doesNotMatch(readFileSync(report, "utf8"), /s3cret/);
  assert.doesNotMatch(readFileSync(join(folder, "run.drift"), "latin1"), /s3cret/);
  const wrong = run([...conformance, "--store", server.url("wr0ng")]);
  assert.equal(wrong.status, 2);
  assert.match(wrong.stderr, /password authentication failed/);
  assert.doesNotMatch(wrong.stderr + wrong.stdout, /wr0ng/);
  succeeds(run([...conformance, "--store", server.url("")], { env: { PGPASSWORD: "s3cret-pass" } }));
});

test("Store_PostgresWithoutItsLibrary_SaysWhatToInstall", () => {
  const env = { DRIFTSCOPE_LIBPQ: "/nowhere/libpq.so.5" };
  const done = run([...conformance, "--store", "postgresql://me:s3cret@127.0.0.1/x"], { env });
  assert.equal(done.status, 3, done.stderr);
  assert.match(done.stderr, /--store postgresql:\/\/me@127\.0\.0\.1\/x: .*apt install libpq5/);
  assert.doesNotMatch(done.stderr, /s3cret/);
});

test("Store_Help_NamesTheForms", () => {
  for (const command of ["compare", "conformance"])
    assert.match(
      run([command, "--help"]).stdout.replace(/\s+/g, " "),
      /FILE, sqlite:FILE\.db or postgresql:\/\/USER@HOST\/DATABASE \(default: \$DRIFTSCOPE_STORE\)/,
    );
  const unknown = run([...conformance, "--store", "mysql://me:s3cret@host/x"]);
  assert.equal(unknown.status, 2);
  assert.match(
    unknown.stderr,
    /there is no kind of store 'mysql:'; expected FILE, sqlite:FILE\.db or postgresql/,
  );
  assert.doesNotMatch(unknown.stderr, /s3cret/);
});
