// ONNX Runtime Web in the three browsers.
import assert from "node:assert/strict";
import { cpSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { asset, builtFile, readSafetensors, run, temporaryFolder } from "../support.mjs";
import { choice } from "../tiny_onnx.mjs";

const lenet5 = asset("models", "lenet5.onnx");

for (const host of ["chrome", "firefox", "safari"])
  test(`Run_${host}Ort_CapturesEveryValueAndVerifies`, (t) => {
    const trace = join(temporaryFolder(t), "trace.safetensors");
    const ran = run(["run", lenet5, "--target", `${host}/ort:threads=2`, "--repeat", "3", "--trace", trace]);
    assert.equal(ran.status, 0, ran.stderr);
    const { metadata, tensors } = readSafetensors(trace);
    const nodes = JSON.parse(metadata.nodes);
    for (const name of nodes.flatMap((node) => node.outputs)) assert.ok(tensors.has(name), name);
    const { engine, threads_real, options, times } = JSON.parse(metadata.run);
    assert.equal(times.watched_ns.length, 3);
    assert.ok(nodes.every(({ time_ns }) => time_ns.length === 0)); // it reports none of layers
    assert.equal(engine, "ort");
    assert.equal(threads_real, 2);
    assert.equal(options.version, "1.30.0");
    assert.equal(options.wasm, "ort-wasm-simd-threaded.wasm");
    const kinds = new Set(JSON.parse(metadata.memory).map(({ kind }) => kind));
    assert.ok(kinds.has("ort_wasm_heap") && kinds.has("wasm_heap"), [...kinds].join());
    const verified = run(["verify", lenet5, trace, "--json", "-"]);
    assert.equal(verified.status, 0, verified.stderr);
    assert.equal(JSON.parse(verified.stdout).verdict, "rounding");
  });

test("Rejected_InTheBrowser_TheMessageIsOrtsOwnAndTheOthersGoOn", (t) => {
  const folder = temporaryFolder(t);
  const model = join(folder, "future.onnx");
  const bytes = readFileSync(lenet5);
  bytes[1] = 99; // its IR version
  writeFileSync(model, bytes);
  const json = join(folder, "compare.json");
  const { status, stderr } = run([
    "compare",
    model,
    "--left",
    "pc/strict",
    "--right",
    "chrome/ort,pc/reference",
    "--json",
    json,
  ]);
  assert.equal(status, 2, stderr);
  assert.match(stderr, /chrome\/ort: chrome: ONNX Runtime 1\.30\.0 says: .*99/);
  assert.equal(JSON.parse(readFileSync(json, "utf8")).right[1].verify.verdict, "identical");
});

test("Conformance_ChromeOrt_RunsManyModelsInOneWorker", () => {
  const { status, stdout, stderr } = run([
    "conformance",
    "--targets",
    "chrome/ort",
    "--filter",
    "*softmax_axis*",
    "--json",
    "-",
  ]);
  assert.equal(status, 0, stderr);
  const [{ passed, failed }] = JSON.parse(stdout).targets;
  assert.ok(passed > 3 && failed === 0, stdout);
});

// The built site with an onnxruntime-web whose first `count` starts in a browser fail, as Firefox's
// sometimes do, but immediately. Workers of one page share only its caches.
function siteWithFailingStarts(t, count) {
  const site = join(temporaryFolder(t), "site");
  cpSync(builtFile("web", "site"), site, { recursive: true });
  const bundle = join(site, "ort", "ort.wasm.bundle.min.mjs");
  renameSync(bundle, join(site, "ort", "real.mjs"));
  writeFileSync(
    bundle,
    `
    import { env, InferenceSession as Real, Tensor } from "./real.mjs";
    export { env, Tensor };
    export const InferenceSession = { async create(...given) {
      const starts = await caches.open("starts");
      const before = (await starts.keys()).length;
      await starts.put("/start/" + before, new Response(""));
      if (before < ${count})
        throw new Error("no available backend found. ERR: [wasm] Error: " +
          "WebAssembly backend initializing failed due to timeout: 1ms");
      return Real.create(...given);
    } };`,
  );
  return { ...process.env, DRIFTSCOPE_SITE: site };
}

// One worker tries to start twice.
test("StuckWorker_AnotherOneTakesOver_AndNoValueComesTwice", (t) => {
  const trace = join(temporaryFolder(t), "trace.safetensors");
  const ran = run(["run", lenet5, "--target", "chrome/ort", "--trace", trace], {
    env: siteWithFailingStarts(t, 2),
  });
  assert.equal(ran.status, 0, ran.stderr);
  assert.ok(readSafetensors(trace).tensors.size > 10);
});

test("StuckWorker_OfABench_AnotherOneTakesOver", (t) => {
  const more = ["--time", "0.2", "--no-save", "--json", "-"];
  const ran = run(["bench", lenet5, "--targets", "chrome/ort", ...more], {
    env: siteWithFailingStarts(t, 3),
  });
  assert.equal(ran.status, 0, ran.stderr);
  assert.equal(JSON.parse(ran.stdout).results.length, 1);
});

test("StuckWorkers_OfARunAndOfManyRuns_TheErrorNamesTheStart", (t) => {
  const env = siteWithFailingStarts(t, 1000);
  for (const command of [
    ["run", lenet5, "--target", "chrome/ort"],
    ["bench", lenet5, "--targets", "chrome/ort", "--no-save"],
    ["conformance", "--targets", "chrome/ort", "--filter", "*softmax_axis*"],
  ]) {
    const ran = run(command, { env });
    assert.notEqual(ran.status, 0, command.join(" "));
    assert.match(ran.stderr, /onnxruntime-web could not start: .*timeout/);
  }
});

test("If_ChromeOrt_HasTheLayersOfTheBranchThatRan", (t) => {
  const folder = temporaryFolder(t);
  const model = join(folder, "choice.onnx");
  writeFileSync(model, choice());
  const json = join(folder, "compare.json");
  const { status, stderr } = run([
    ...["compare", model, "--left", "pc/strict", "--right", "chrome/ort,chrome/strict", "--json", json],
  ]);
  assert.equal(status, 0, stderr);
  for (const { target, verify, layers } of JSON.parse(readFileSync(json, "utf8")).right) {
    const names = layers.map(({ node }) => node);
    assert.match(names.join(), /^sum,greater,choice\[(then|else)\]\/scale,choice\[\1\]\/\w+,choice$/, target);
    assert.deepEqual(
      verify.layers.map(({ node }) => node),
      names,
      target,
    );
    assert.ok(
      verify.layers.every(({ verdict }) => ["identical", "rounding"].includes(verdict)),
      target,
    );
  }
});
