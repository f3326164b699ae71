// Tests bit identity: every captured tensor of each model has the same bits over compilers, thread
// counts, SIMD widths, WebAssembly under Node and the three browsers. Prints what really ran.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { asset, builtFile, readSafetensors, run, start, temporaryFolder, traceDigests } from "../support.mjs";

const models = [
  "lenet1",
  "lenet5",
  "lenet5-int8",
  "resnet20",
  "resnet20-int8",
  "vgg16",
  "textcnn",
  "lstm",
  "gru",
  "transformer",
  "unet",
];
const cpuFlags = readFileSync("/proc/cpuinfo", "utf8")
  .match(/^flags.*$/m)[0]
  .split(/\s+/);
const widths = [
  128,
  ...(cpuFlags.includes("avx2") ? [256] : []),
  ...(cpuFlags.includes("avx512f") ? [512] : []),
];

// {ran: first comment lines, tensors: Map name → sha256}
function digest(program, args) {
  const { status, stdout, stderr } = run(args, { program, timeout: 300_000 });
  assert.equal(status, 0, `${program} ${args.join(" ")}\n${stderr}`);
  const lines = stdout.trim().split("\n");
  const ran = lines
    .filter((line) => line.startsWith("#"))
    .map((line) => line.slice(1).trim())
    .join("; ");
  // "conv1.out 1x6x28x28 <sha256>"
  const tensors = new Map(
    lines
      .filter((line) => !line.startsWith("#"))
      .map((line) => {
        const [, name, sha] = line.match(/^(.+) \S+ ([0-9a-f]{64})$/);
        return [name, sha];
      }),
  );
  return { ran, tensors };
}

const differing = (a, b) => [...a].filter(([name, sha]) => b.get(name) !== sha).map(([name]) => name);

function assertSame(expected, actual, what) {
  assert.deepEqual([...actual.keys()].sort(), [...expected.keys()].sort(), `${what}: other tensors`);
  assert.deepEqual(differing(expected, actual), [], `${what}: tensors with other bits`);
}

// The sanitized build is Clang's; its optimising one is built by tools/test --long only.
const builds = [
  ["GCC", "native"],
  ["Clang, sanitized", "native-asan"],
  ["Clang", "native-clang"],
].filter(
  ([, folder]) => folder !== "native-clang" || existsSync(builtFile(folder, "tests", "driftscope_digest")),
);

// Each of the four builds for browsers is used by one of them.
const targets = [
  ["chrome/strict", "relaxed-threads"],
  ["firefox/strict", "relaxed-threads"],
  ["safari/strict", "simd-threads"],
  ["chrome/strict:wasm=relaxed", "relaxed"],
  ["chrome/strict:wasm=simd", "simd"],
];

for (const model of models) {
  test(`Bits_${model}_SameEverywhere`, async (t) => {
    const path = asset("models", `${model}.onnx`);
    const folder = temporaryFolder(t);
    const traceOn = async (target) => {
      const trace = join(folder, `${target.replaceAll(/[^a-z0-9]/g, "-")}.safetensors`);
      const { status, stderr } = await start([
        "run",
        path,
        "--input",
        "seed:42",
        "--target",
        target,
        "--trace",
        trace,
        "--quiet",
        "--timeout",
        "300",
      ]).done;
      assert.equal(status, 0, `${target}: ${stderr}`);
      const { metadata } = readSafetensors(trace);
      t.diagnostic(`${model} ${target}: ${metadata.run}`);
      return { tensors: traceDigests(trace), run: JSON.parse(metadata.run) };
    };
    const baseline = (await traceOn("pc/strict:threads=1")).tensors;
    assert.ok(baseline.size > 5, "too few tensors were captured");

    // They mostly wait for their windows: meanwhile the others have the processors.
    const browsers = new Map();
    let last = Promise.resolve();
    for (const [target] of targets) {
      const one = last.then(() => traceOn(target));
      last = one.catch(() => {});
      browsers.set(target, one);
    }

    for (const [name, folderName] of builds)
      for (const threads of [1, 2, 4])
        for (const width of widths)
          await t.test(`${name}, ${threads} threads, ${width} bits`, (one) => {
            const result = digest(
              builtFile(folderName, "tests", "driftscope_digest"),
              [path, "--seed", "42", "--threads", threads, "--simd", width].map(String),
            );
            one.diagnostic(result.ran);
            assert.match(
              result.ran,
              new RegExp(`${width} bit, ${threads} of ${threads} thread`),
              "what was asked for did not run",
            );
            assertSame(baseline, result.tensors, `${name} ${threads} threads ${width} bits`);
          });

    for (const threads of [1, 2, 4])
      await t.test(`WebAssembly under Node, ${threads} threads`, (one) => {
        const result = digest(process.execPath, [
          builtFile("web", "tests", "driftscope_digest.js"),
          path,
          "--seed",
          "42",
          "--threads",
          String(threads),
        ]);
        one.diagnostic(result.ran);
        assert.match(
          result.ran,
          new RegExp(`wasm SIMD128.*${threads} of ${threads} thread`),
          "what was asked for did not run",
        );
        assertSame(baseline, result.tensors, `Node ${threads} threads`);
      });

    for (const [target, build] of targets)
      await t.test(target, async () => {
        const { tensors, run: ran } = await browsers.get(target);
        assert.equal(ran.wasm_variant, `driftscope-${build}`, "what was asked for did not run");
        assertSame(baseline, tensors, target);
      });
  });
}
