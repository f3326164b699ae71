// driftscope compare DIR: the variants of a model's folder on several targets.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { asset, readSafetensors, run, temporaryFolder } from "../support.mjs";
import { faultsOf } from "../document_schema.mjs";

const quick = ["--times", "0", "--repeat", "1", "--quiet"];

function quantize(model, out, mode) {
  const { status, stderr } = run(
    `quantize ${model} --mode ${mode} --layer-samples 0 -o ${out} --quiet`.split(" "),
  );
  assert.equal(status, 0, stderr);
}

// As transformers.js lays one out, with a file that is no model and one whose name is no variant.
function modelFolder(t) {
  const folder = temporaryFolder(t);
  const onnx = join(folder, "onnx");
  mkdirSync(onnx);
  const lenet = asset("models", "lenet5.onnx");
  copyFileSync(lenet, join(onnx, "model.onnx"));
  quantize(lenet, join(onnx, "model_fp16.onnx"), "float16");
  quantize(lenet, join(onnx, "model_quantized.onnx"), "int8-dynamic");
  writeFileSync(join(onnx, "model_q4.onnx"), readFileSync(lenet).subarray(0, 5000));
  writeFileSync(join(folder, "config.json"), "{}");
  copyFileSync(lenet, join(folder, "odd.onnx"));
  return folder;
}

// The outputs that `run` records of one file on one target.
function recorded(model, target, folder, name) {
  const out = join(folder, "separate.safetensors");
  const { status, stderr } = run(["run", model, "--target", target, "--trace", `outputs:${out}`, "--quiet"]);
  assert.equal(status, 0, stderr);
  const { bytes } = readSafetensors(out).tensors.get(name);
  return new Float32Array(Uint8Array.from(bytes).buffer);
}

test("Folder_VariantsByTarget_SameAsSeparateRuns", (t) => {
  const folder = modelFolder(t);
  const page = join(folder, "page.html");
  const args = ["compare", folder, ...quick, "--left", "pc/strict", "--targets", "pc/fast", "--json", "-"];
  const { status, stdout, stderr } = run([...args, "-o", page]);
  const document = JSON.parse(stdout);
  assert.deepEqual(faultsOf(document), []);
  assert.equal(status, 2, stderr); // a file that is no model
  assert.deepEqual(document.targets, ["pc/strict", "pc/fast"]);
  assert.deepEqual(document.not_recognised, ["odd.onnx"]);
  const [{ name, reference, variants, excluded, smallest, rule }] = document.parts;
  assert.deepEqual([name, reference, rule], ["model", "fp32", "prediction"]);
  assert.deepEqual(
    variants.map((variant) => variant.name),
    ["fp32", "fp16", "q8", "q4"],
  );
  assert.match(variants[3].error, /model_q4\.onnx/);
  assert.deepEqual(variants[3].cells, []);

  const output = variants[0].cells[0].drift_output;
  const want = recorded(join(folder, variants[0].file), "pc/strict", folder, output);
  const scale = Math.max(...want.map(Math.abs));
  for (const { file, bytes, sha256, cells } of variants.slice(0, 3)) {
    const path = join(folder, file);
    assert.equal(bytes, statSync(path).size);
    const alone = run([
      "compare",
      path,
      ...quick,
      "--left",
      "pc/strict",
      "--right",
      "pc/fast",
      "--json",
      "-",
    ]);
    const { model_sha256, left, right } = JSON.parse(alone.stdout);
    assert.equal(sha256, model_sha256);
    const judged = [left, ...right].map(({ verify }) => verify.verdict);
    for (const [i, cell] of cells.entries()) {
      assert.equal(cell.error, undefined);
      assert.equal(cell.verdict, judged[i]);
      const got = recorded(path, cell.target, folder, output);
      const drift = Math.max(...got.map((x, k) => Math.abs(x - want[k]))) / scale;
      assert.ok(Math.abs(cell.drift - drift) <= 1e-12 + 1e-9 * drift, `${file} ${cell.target}`);
      assert.equal(cell.same_prediction, got.indexOf(Math.max(...got)) === want.indexOf(Math.max(...want)));
      assert.ok(cell.peak_bytes === undefined || cell.peak_bytes > 0);
    }
  }
  assert.equal(variants[0].cells[0].drift, 0);
  assert.ok(variants[2].cells[0].drift > variants[0].cells[1].drift);
  const kept = variants.slice(0, 3).filter(({ cells }) => cells.every((cell) => cell.same_prediction));
  assert.equal(smallest, kept.sort((a, b) => a.bytes - b.bytes)[0].name);
  assert.ok(excluded.some((one) => one.name === "q4"));
  assert.match(readFileSync(page, "utf8"), /is the smallest variant that keeps the answers on both targets/);
});

test("Folder_Text_WithoutFloat32_TheWidestIsTheReference", (t) => {
  const folder = temporaryFolder(t);
  const lenet = asset("models", "lenet5.onnx");
  quantize(lenet, join(folder, "net_fp16.onnx"), "float16");
  quantize(lenet, join(folder, "net-int8.onnx"), "int8-dynamic");
  execFileSync("mkfifo", [join(folder, "net-q4.onnx")]); // nobody writes into it
  const { status, stdout, stderr } = run(["compare", folder, ...quick, "--left", "pc/strict"]);
  assert.equal(status, 2, stderr);
  assert.match(stdout, /q4: .*net-q4\.onnx: not a file/);
  assert.match(stdout, /note: there is no float32 variant, so the widest one is the reference/);
  assert.match(stdout, /fp16 +\S+ kB +pc\/strict +\S \w+ +same +0 /);
  assert.match(stdout, /is the smallest variant that keeps the answers on the target/);
});

test("Folder_DescriptionAboveOnnx_IsFound", (t) => {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, "onnx"));
  copyFileSync(asset("models", "lenet5.onnx"), join(folder, "onnx", "model.onnx"));
  const digits = ["images.idx3", "labels.idx1"].map((name) => asset("data", `digits-test-${name}-ubyte`));
  const args = ["compare", folder, ...quick, "--input", `idx:${digits}#7`, "--json", "-"];
  assert.match(run(args).stderr, /preprocess\.json/);
  copyFileSync(asset("models", "lenet5.preprocess.json"), join(folder, "model.preprocess.json"));
  const { status, stdout, stderr } = run(args);
  assert.equal(status, 0, stderr);
  assert.match(JSON.parse(stdout).parts[0].input, /#7$/);
});

test("Folder_WrongUse_SaysWhatIsExpected", (t) => {
  const fault = (args, pattern) => {
    const { status, stderr } = run(["compare", ...args]);
    assert.equal(status, 2, stderr);
    assert.match(stderr, pattern);
  };
  const folder = temporaryFolder(t);
  fault([folder], /no model whose variants are known by their names; expected files like model\.onnx/);
  const lenet = asset("models", "lenet5.onnx");
  copyFileSync(lenet, join(folder, "model.onnx"));
  fault([folder, "--save", join(folder, "x.drift")], /is a folder, and --save is for a single model/);
  fault([folder, "--part", "encoder"], /--part 'encoder': .* has model/);
  fault([folder, "--input", "none.npy", ...quick], /none\.npy/);
  fault([lenet, "--right", "pc/fast", "--tolerance", "0.1"], /--tolerance is for a folder/);
  fault([folder, "--targets", "pc/nothing"], /nothing/);
});
