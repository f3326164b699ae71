// Files of an attacker: names that a terminal or a log obeys, closed and full outputs.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import * as hostile from "../hostile_onnx.mjs";
import { asset, driftscope, run, temporaryFolder } from "../support.mjs";
import { chain } from "../tiny_onnx.mjs";

const lenet1 = asset("models", "lenet1.onnx");
const escape = "\x1b]0;owned\x07\x1b[8m";

test("FileNameAndLabelsWithEscapes_ReachTheTerminalAsText", (t) => {
  const folder = temporaryFolder(t);
  const model = join(folder, `net${escape}.onnx`);
  copyFileSync(lenet1, model);
  const how = JSON.parse(readFileSync(asset("models", "lenet1.preprocess.json"), "utf8"));
  how.labels = how.labels.map((label) => `${label}${escape}`);
  writeFileSync(join(folder, `net${escape}.preprocess.json`), JSON.stringify(how));
  for (const args of [
    ["run", model],
    ["compare", model, "--right", "pc/reference"],
    ["run", join(folder, `absent${escape}.onnx`)],
  ]) {
    const { stdout, stderr } = run(args);
    const controls = [...(stdout + stderr)].filter((c) => c < " " && c !== "\n" && c !== "\t");
    assert.deepEqual(controls, []);
    assert.match(stdout + stderr, /\\x1b\]0;owned/);
  }
});

test("NamesThatAreCommandsOfGitHubActions_AreNone", (t) => {
  const folder = temporaryFolder(t);
  const model = join(folder, "::error file=x::owned ##[add-path].onnx");
  copyFileSync(lenet1, model);
  const env = { GITHUB_ACTIONS: "true" };
  const { stdout, stderr } = run(["compare", model, "--right", "pc/reference"], { env });
  assert.match(stdout, /: :error file=x::owned ## \[add-path\]/);
  for (const line of (stdout + stderr).split("\n")) {
    assert.doesNotMatch(line.trim(), /^::error file=x/);
    assert.doesNotMatch(line, /##\[/);
  }
});

test("CommandsAfterOtherWhiteSpaceAndInJson_AreNone", (t) => {
  const folder = temporaryFolder(t);
  const model = join(folder, "\u00a0\u2003::error file=x::owned ##[add-path]\x7f.onnx");
  copyFileSync(lenet1, model);
  const env = { GITHUB_ACTIONS: "true" };
  const text = run(["compare", model, "--right", "pc/reference"], { env });
  const json = run(["convert-check", model, model, "--json", "-"], { env });
  assert.equal(JSON.parse(json.stdout).a.path, model, "whoever reads it gets the name as it was");
  for (const line of (text.stdout + text.stderr + json.stdout).split("\n")) {
    assert.doesNotMatch(line.trim(), /^::error file=x/);
    assert.equal(line.includes("##[") || line.includes("\x7f"), false, line);
  }
});

test("ArgumentsThatAreNotUnderstood_AreQuotedAsText", () => {
  const { status, stdout, stderr } = run(["run", lenet1, `extra${escape}`]);
  assert.equal(status, 2);
  assert.match(stdout + stderr, /extra\\x1b\]0;owned/);
  assert.equal((stdout + stderr).includes("\x1b"), false);
  const unknown = run([`frobnicate${escape}`]);
  assert.equal(unknown.status, 2);
  assert.match(unknown.stderr, /no command 'frobnicate\\x1b/);
});

test("FilesThatOthersMayReplace_AreNotUsed", (t) => {
  const folder = temporaryFolder(t);
  const program = join(folder, "bin", "driftscope");
  const site = join(folder, "share", "driftscope", "site");
  const library = join(folder, "lib", "driftscope", "libonnxruntime.so.1");
  mkdirSync(dirname(program));
  mkdirSync(join(site, "engine"), { recursive: true });
  mkdirSync(dirname(library), { recursive: true });
  copyFileSync(driftscope, program);
  writeFileSync(join(site, "index.html"), "");
  writeFileSync(library, "");
  const tried = (args) =>
    run(args, {
      program,
      cwd: folder,
      env: { DRIFTSCOPE_SITE: "", DRIFTSCOPE_ONNXRUNTIME: "", RUNNER_ENVIRONMENT: "" },
    }).stderr;
  const ort = ["run", lenet1, "--target", "pc/ort"];
  const page = ["run", lenet1, "--target", "chrome/strict", "--timeout", "20"];
  assert.doesNotMatch(tried(ort), /somebody else could have replaced it/);
  chmodSync(dirname(library), 0o777);
  assert.match(
    tried(ort),
    /'.*libonnxruntime\.so\.1' is not loaded, as somebody else could have replaced it/,
  );
  chmodSync(site, 0o777);
  assert.match(tried(page), /is not used, as somebody else could have replaced it: every user may write/);
  chmodSync(site, 0o755);
  mkdirSync(join(site, "web", "shared"), { recursive: true });
  writeFileSync(join(site, "web", "shared", "a.mjs"), "");
  chmodSync(join(site, "web", "shared", "a.mjs"), 0o666);
  assert.match(tried(page), /every user may write to '.*web\/shared\/a\.mjs'/);
});

test("ProgramsInFoldersOfEverybodyOrHere_AreNotStarted", (t) => {
  const folder = temporaryFolder(t);
  const below = join(folder, "below");
  mkdirSync(below);
  const elsewhere = temporaryFolder(t);
  const link = join(folder, "link");
  symlinkSync(elsewhere, link);
  for (const place of [folder, below, elsewhere])
    writeFileSync(join(place, "node"), `#!/bin/sh\ntouch ${folder}/started\n`, { mode: 0o755 });
  for (const [path, mode, ofFile] of [
    [".", 0o755, 0o755],
    ["", 0o755, 0o755],
    [folder, 0o777, 0o755],
    [below, 0o777, 0o755],
    [link, 0o777, 0o755],
    [folder, 0o755, 0o777],
  ]) {
    chmodSync(folder, mode);
    chmodSync(join(folder, "node"), ofFile);
    const env = { PATH: path, DRIFTSCOPE_NODE: "", RUNNER_ENVIRONMENT: "" };
    const { stderr } = run(["run", lenet1, "--target", "pc/tfjs-cpu"], { cwd: folder, env });
    assert.equal(existsSync(join(folder, "started")), false, path);
    assert.match(
      stderr,
      path.startsWith("/") ? /node' is not started, as everybody/ : /'node' was not found/,
    );
  }
  chmodSync(folder, 0o755);
  chmodSync(join(folder, "node"), 0o755);
  run(["run", lenet1, "--target", "pc/tfjs-cpu"], {
    env: { PATH: `${folder}:/usr/bin:/bin`, DRIFTSCOPE_NODE: "" },
  });
  assert.equal(existsSync(join(folder, "started")), true, "where it is trusted it is");
  // A machine for one job, where everybody may write to much.
  rmSync(join(folder, "started"));
  chmodSync(folder, 0o777);
  run(["run", lenet1, "--target", "pc/tfjs-cpu"], {
    env: { PATH: `${folder}:/usr/bin:/bin`, DRIFTSCOPE_NODE: "", RUNNER_ENVIRONMENT: "github-hosted" },
  });
  assert.equal(existsSync(join(folder, "started")), true);
});

test("ClosedStandardOutput_LeavesAWholeTraceAndAnError", (t) => {
  const trace = join(temporaryFolder(t), "t.safetensors");
  const shell = (command) => spawnSync("bash", ["-c", command], { encoding: "utf8" });
  const closed = shell(`${driftscope} run ${lenet1} --trace ${trace} >&-`);
  assert.equal(closed.status, 2, closed.stderr);
  assert.match(closed.stderr, /standard output/);
  assert.equal(run(["verify", lenet1, trace]).status, 0);
  const full = shell(`${driftscope} run ${lenet1} >/dev/full`);
  assert.equal(full.status, 2);
  assert.match(full.stderr, /standard output: No space left/);
  const reader = shell(
    `set -o pipefail; ${driftscope} compare ${lenet1} --right pc/reference --layers all | head -1`,
  );
  assert.equal(reader.status, 0, reader.stderr);
});

test("VocabularyFarAway_IsNotRead", (t) => {
  const above = temporaryFolder(t);
  const folder = join(above, "models");
  mkdirSync(join(folder, "below"), { recursive: true });
  const model = join(folder, "text.onnx");
  copyFileSync(asset("models", "textcnn.onnx"), model);
  const how = JSON.parse(readFileSync(asset("models", "textcnn.preprocess.json"), "utf8"));
  const words = join(folder, "sample.txt");
  writeFileSync(words, "a good film");
  const tried = (vocabulary, named = model, cwd = undefined) => {
    writeFileSync(join(folder, "text.preprocess.json"), JSON.stringify({ ...how, vocabulary }));
    return run(["run", named, "--input", words], { cwd });
  };
  for (const far of ["/etc/passwd", "../../../../../../etc/passwd", "link", "/dev/zero"]) {
    if (far === "link" && !existsSync(join(folder, "link"))) symlinkSync("/etc/passwd", join(folder, "link"));
    const { status, stdout, stderr } = tried(far);
    assert.equal(status, 2, stdout);
    assert.match(stderr, /vocabulary/);
    assert.doesNotMatch(stdout + stderr, /root:/);
  }
  copyFileSync(asset("data", "generated-reviews", "vocabulary.txt"), join(folder, "words.txt"));
  assert.equal(tried("words.txt").status, 0);
  // However the model is named.
  assert.equal(tried("words.txt", "../text.onnx", join(folder, "below")).status, 0);
  copyFileSync(join(folder, "words.txt"), join(above, "words.txt"));
  assert.equal(tried("../words.txt", "./text.onnx", folder).status, 0);
});

test("BudgetsOfMemoryAndTime_EndARunWithTheirReason", (t) => {
  const vgg16 = asset("models", "vgg16.onnx");
  const memory = run(["run", vgg16, "--max-memory", "4MB"]);
  assert.equal(memory.status, 2, memory.stdout);
  assert.match(memory.stderr, /out of memory/);
  assert.equal(run(["--max-memory", "2GB", "run", vgg16]).status, 0);
  const trace = join(temporaryFolder(t), "t.safetensors");
  const time = run(["run", vgg16, "--repeat", "100000", "--trace", trace, "--max-time", "0.3"]);
  assert.equal(time.status, 2, time.stdout);
  assert.match(time.stderr, /0\.3 s of --max-time have passed/);
  assert.equal(existsSync(trace), false);
  assert.equal(run(["run", vgg16, "--max-memory", "12 apples"]).status, 2);
  const bench = run(["bench", vgg16, "--targets", "pc/strict", "--max-memory", "4MB", "--time", "1"]);
  assert.notEqual(bench.status, 0, bench.stdout);
  assert.match(bench.stdout + bench.stderr, /out of memory/);
});

test("LoopThatNeverEnds_EndsWithItsTime", (t) => {
  const file = join(temporaryFolder(t), "endless.onnx");
  writeFileSync(file, hostile.endless());
  for (const engine of ["reference", "strict", "fast"]) {
    const { status, stderr } = run(["run", file, "--target", `pc/${engine}`, "--max-time", "1"]);
    assert.equal(status, 2, stderr);
    assert.match(stderr, /1 s of --max-time have passed/, engine);
  }
});

test("ModelBeyondTwoGibibytes_IsRefusedByItsSize", (t) => {
  const file = join(temporaryFolder(t), "huge.onnx");
  writeFileSync(file, "");
  truncateSync(file, 3 * 2 ** 30); // takes no space
  const { status, stderr } = run(["run", file, "--max-memory", "64MB"]);
  assert.equal(status, 2, stderr);
  assert.match(stderr, /2 GiB/);
});

test("ModelsThatWantGigabytes_AreRefusedByNodeAndBytes", (t) => {
  const file = join(temporaryFolder(t), "hostile.onnx");
  for (const [bytes, wanted] of [
    [hostile.zeros([1 << 20, 1 << 12]), /node huge \(ConstantOfShape.*out of memory for \d{11,} bytes/],
    [hostile.expanded(2 ** 31), /node wide \(Expand.*out of memory for \d{10,} bytes/],
    [hostile.counted(2 ** 30), /node count \(Range.*out of memory for \d{10} bytes/],
    [hostile.doubling(), /node again \(Loop.*node step \(Concat.*out of memory for \d{9,} bytes/],
  ]) {
    writeFileSync(file, bytes);
    for (const engine of ["reference", "strict", "fast"]) {
      const { status, stderr } = run(["run", file, "--target", `pc/${engine}`, "--max-memory", "300MB"]);
      assert.equal(status, 2, stderr);
      assert.match(stderr, wanted, engine);
    }
  }
});

test("FunctionsThatExpandToGigabytes_AreRefusedByName", (t) => {
  const file = join(temporaryFolder(t), "hostile.onnx");
  for (const [depth, length] of [
    [17, 900], // 32 kB: names of 16 kB on 260,000 nodes
    [40, 1],
  ]) {
    writeFileSync(file, hostile.functions(depth, length));
    const { status, stderr } = run(["run", file, "--max-memory", "300MB"]);
    assert.equal(status, 2, stderr);
    assert.match(stderr, /function 'F0': function 'F1': .*(take more than \d+ bytes|more than 250000 nodes)/);
  }
});

test("FileCutShorterWhileItIsRead_EndsWithAMessage", async (t) => {
  const folder = temporaryFolder(t);
  const [model, trace] = [join(folder, "relu.onnx"), join(folder, "cut.safetensors")];
  const elements = 1 << 25; // enough that reading them takes a while
  writeFileSync(model, chain("Relu", 1, [elements]));
  const offsets = (i) => ({
    dtype: "F32",
    shape: [elements],
    data_offsets: [4 * elements * i, 4 * elements * (i + 1)],
  });
  const header = JSON.stringify({ x: offsets(0), y: offsets(1) }).padEnd(248);
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  writeFileSync(trace, Buffer.concat([length, Buffer.from(header)]));
  truncateSync(trace, 256 + 8 * elements); // zeros, which take no space
  const verify = spawn(driftscope, ["verify", model, trace], { stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  verify.stderr.on("data", (text) => (said += text));
  const ended = once(verify, "close");
  const isMapped = () => readFileSync(`/proc/${verify.pid}/maps`, "utf8").includes("cut.safetensors");
  while (verify.exitCode === null && !isMapped()) await delay(1);
  verify.kill("SIGSTOP");
  truncateSync(trace, 4096);
  verify.kill("SIGCONT");
  const [code, signal] = await ended;
  assert.equal(signal, null);
  assert.equal(code, 2, said);
  assert.match(said, /a file became shorter while it was read/);
});
