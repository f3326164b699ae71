// The npm package with the program in it, as somebody gets it who has Node and nothing else.
import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";

import { Locks } from "../../../node/system/locks.mjs";
import { asset, builtFile, driftscope as nativeProgram, run, temporaryFolder } from "../../e2e/support.mjs";

const lenet5 = asset("models", "lenet5.onnx");
const most_packed_bytes = 15e6;

let project;
let packed;
let temporary;
// Packed, installed without a network, and started from that folder.
before(() => {
  const folder = temporaryFolder({ after: (end) => process.on("exit", end) });
  const quiet = ["--no-audit", "--no-fund", "--loglevel=error", "--offline", "--cache", join(folder, ".npm")];
  const source = builtFile("web", "package");
  packed = join(
    folder,
    execFileSync("npm", ["pack", source, ...quiet], { cwd: folder, encoding: "utf8" }).trim(),
  );
  project = join(folder, "project");
  temporary = join(folder, "tmp");
  mkdirSync(project);
  mkdirSync(temporary);
  writeFileSync(join(project, "package.json"), JSON.stringify({ name: "a-web-team", private: true }));
  execFileSync("npm", ["install", packed, "--omit=optional", ...quiet], { cwd: project });
});

// No browser and nothing of the native build can be found.
const environment = () => ({
  PATH: temporary,
  HOME: project,
  TMPDIR: temporary,
  NO_COLOR: "1",
});
const program = () => join(project, "node_modules", ".bin", "driftscope");
const driftscopeWith = (variables, ...args) =>
  spawnSync(process.execPath, [program(), ...args], {
    cwd: project,
    encoding: "utf8",
    timeout: 120_000,
    env: { ...environment(), ...variables },
  });
const driftscope = (...args) => driftscopeWith({}, ...args);

test("Package_Packed_IsSmall", () => {
  assert.ok(statSync(packed).size < most_packed_bytes, `${statSync(packed).size} bytes`);
});

test("Program_ComparedUnderNode_JudgesAndReports", () => {
  const { status, stdout, stderr } = driftscope(
    ...["compare", lenet5, "--input", "seed:42", "--right", "node/fast", "--times", "0.2"],
    ...["--report", "r.html", "--json", "r.json", "--quiet"],
  );
  assert.equal(status, 0, stdout + stderr);
  assert.match(stdout, /node\/fast agrees with node\/strict within rounding, same answer/);
  const results = JSON.parse(readFileSync(join(project, "r.json"), "utf8"));
  assert.deepEqual(
    [results.left, ...results.right].map((target) => target.target),
    ["node/strict", "node/fast"],
  );
  assert.match(readFileSync(join(project, "r.html"), "utf8"), /<html/);
  assert.deepEqual(readdirSync(temporary), []); // nothing is left behind
});

test("Program_RunUnderNode_HasTheBitsOfTheNativeProgram", (t) => {
  const folder = temporaryFolder(t);
  const [here, native] = [join(folder, "here.safetensors"), join(folder, "native.safetensors")];
  const ours = driftscope("run", lenet5, "--input", "seed:7", "--trace", here);
  assert.equal(ours.status, 0, ours.stderr);
  assert.equal(run(["run", lenet5, "--input", "seed:7", "--trace", native]).status, 0);
  const values = (file) => {
    const bytes = readFileSync(file);
    const head = Number(bytes.readBigUInt64LE(0));
    const { __metadata__, ...tensors } = JSON.parse(bytes.subarray(8, 8 + head).toString());
    assert.ok(__metadata__);
    return Object.entries(tensors).map(
      ([
        name,
        {
          data_offsets: [begin, end],
        },
      ]) => [name, bytes.subarray(8 + head + begin, 8 + head + end).toString("base64")],
    );
  };
  assert.deepEqual(new Map(values(here)), new Map(values(native)));
  const judged = driftscope("verify", lenet5, here);
  assert.equal(judged.status, 0, judged.stdout + judged.stderr);
});

test("Program_WrongUse_SaysWhatIsThere", () => {
  const noHost = driftscope("run", lenet5, "--target", "phone/strict");
  assert.equal(noHost.status, 2);
  assert.match(noHost.stderr, /there is no host 'phone'; hosts are .*node, pc/);
  const noFile = driftscope("run", "nowhere.onnx");
  assert.equal(noFile.status, 2);
  assert.match(noFile.stderr, /cannot read nowhere.onnx: No such file or directory/);
});

test("Program_NativeProgramOnThePath_RunsTheHostPc", (t) => {
  const folder = temporaryFolder(t);
  const scripts = join(folder, "scripts");
  const native = join(folder, "native");
  mkdirSync(scripts);
  mkdirSync(native);
  // As npm and pip install it.
  writeFileSync(join(scripts, "driftscope"), "#!/bin/sh\nexit 1\n", { mode: 0o755 });
  symlinkSync(nativeProgram, join(native, "driftscope"));
  const with_native = { PATH: `${scripts}:${native}` };
  const json = join(folder, "r.json");
  const { status, stdout, stderr } = driftscopeWith(
    with_native,
    ...["compare", lenet5, "--input", "seed:42", "--right", "pc/strict,pc/fast", "--times", "0.2"],
    ...["--json", json, "--quiet"],
  );
  assert.equal(status, 0, stdout + stderr);
  const { right } = JSON.parse(readFileSync(json, "utf8"));
  assert.deepEqual(
    right.map(({ target, first_divergence: first, verify }) => [target, first ?? "none", verify.verdict]),
    [
      ["pc/strict", "none", "rounding"],
      ["pc/fast", "conv1", "rounding"],
    ],
  );
  for (const side of right) assert.ok(side.layers.length > 5, side.target);
  const bench = driftscopeWith(
    with_native,
    ...[
      "bench",
      lenet5,
      "--targets",
      "node/strict,pc/strict",
      "--time",
      "0.2",
      "--warm-up",
      "0.1",
      "--json",
      "-",
    ],
  );
  assert.equal(bench.status, 0, bench.stderr);
  assert.deepEqual(
    JSON.parse(bench.stdout).results.map(({ target, error }) => [target, error]),
    [
      ["node/strict", undefined],
      ["pc/strict", undefined],
    ],
  );
  assert.match(
    driftscopeWith(with_native, "doctor").stdout,
    /^yes +pc +driftscope \d.* \(.*native\/driftscope\)/m,
  );
  assert.deepEqual(readdirSync(temporary), []);
});

test("Program_NativeProgramThatDoesNotFit_IsRefused", (t) => {
  const other = join(temporaryFolder(t), "driftscope");
  writeFileSync(other, "#!/bin/sh\necho driftscope 0.0.1\n", { mode: 0o755 });
  const runPc = (variables) => driftscopeWith(variables, "run", lenet5, "--target", "pc/strict");
  const refused = runPc({ DRIFTSCOPE_NATIVE: other });
  assert.equal(refused.status, 3, refused.stdout);
  assert.match(refused.stderr, /is 'driftscope 0\.0\.1', this is driftscope \d.*; install the same version/);
  const missing = runPc({ DRIFTSCOPE_NATIVE: "/nowhere" });
  assert.equal(missing.status, 3);
  assert.match(missing.stderr, /'\/nowhere' \(from DRIFTSCOPE_NATIVE\) is not a program/);
  const none = runPc({});
  assert.equal(none.status, 3);
  assert.match(none.stderr, /the native program is not installed.*docs\/install\.md.*DRIFTSCOPE_NATIVE/);
});

test("Program_Doctor_NamesWhatIsMissingAndWhatHelps", () => {
  const { status, stdout } = driftscope("doctor");
  assert.equal(status, 3, stdout); // no browser on that PATH
  assert.match(stdout, /^yes +node +Node\.js v\d+/m);
  assert.match(
    stdout,
    /^no +chrome +chrome: Chromium is not installed; install it, or name it with DRIFTSCOPE_CHROME/m,
  );
  assert.match(stdout, /^no +pc +pc: the native program is not installed/m);
});

test("Program_HistoryThatAnotherProcessWrites_IsWaitedForAndNotDamaged", async () => {
  const file = join(project, "bench.sqlite");
  const bench = (...args) => driftscope("bench", ...args, "--db", file, "--quiet");
  const measured = bench(lenet5, "--targets", "node/strict", "--time", "0.2", "--warm-up", "0.1");
  assert.equal(measured.status, 0, measured.stderr);
  const { dev, ino } = statSync(file);
  const locks = new Locks();
  assert.ok(await locks.lock({ name: `${dev}-${ino}` }));
  const refused = bench("--history");
  assert.equal(refused.status, 2, refused.stdout);
  assert.match(refused.stderr, /bench\.sqlite.*locked/);
  locks.unlock({ name: `${dev}-${ino}` });
  const shown = bench("--history");
  assert.equal(shown.status, 0, shown.stderr);
  assert.match(shown.stdout, /node\/strict/);
});

test("Program_Interrupted_LeavesNothing", async () => {
  const child = spawn(
    process.execPath,
    [program(), "run", lenet5, "--target", "node/strict", "--times", "100"],
    { cwd: project, env: environment(), stdio: ["ignore", "pipe", "pipe"] },
  );
  let said = "";
  child.stderr.on("data", (text) => (said += text));
  const end = Date.now() + 60_000;
  while (!readdirSync(temporary).some((name) => name.startsWith("driftscope-node-"))) {
    assert.ok(child.exitCode === null && Date.now() < end, said);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  child.kill("SIGINT");
  const [, signal] = await once(child, "exit");
  assert.equal(signal, "SIGINT", said);
  assert.deepEqual(readdirSync(temporary), []);
  assert.ok(existsSync(lenet5));
});
