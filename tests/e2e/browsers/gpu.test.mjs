// The GPU engines in the browsers, on drivers that compute on the CPU where there is no GPU.
import assert from "node:assert/strict";
import { join } from "node:path";
import { readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { asset, readSafetensors, run, temporaryFolder } from "../support.mjs";

const model = asset("models", "resnet20.onnx");

// WebKitGTK has WebGL on the page alone: its run crosses to the page and back.
const targets = [
  "chrome/webgpu",
  "chrome/webgl",
  "firefox/webgpu",
  "firefox/webgl",
  "safari/webgl",
  "chrome/ort-webgpu",
];

for (const target of targets)
  test(`Run_${target}_EveryLayerIsRight`, (t) => {
    const trace = join(temporaryFolder(t), "trace.safetensors");
    const ran = run(["run", model, "--target", target, "--repeat", "2", "--trace", trace]);
    assert.equal(ran.status, 0, ran.stderr);
    const { metadata } = readSafetensors(trace);
    const { engine, options } = JSON.parse(metadata.run);
    assert.equal(engine, target.split("/")[1]);
    assert.equal(options.on_strict, undefined);
    if (engine === "webgl") assert.equal(options.precision_bits, "23");
    const verified = run(["verify", model, trace, "--json", "-"]);
    assert.equal(verified.status, 0, verified.stdout + verified.stderr);
    assert.equal(JSON.parse(verified.stdout).verdict, "rounding");
  });

test("Compare_TheSameShadersOnThePcAndInChromium_AgreeWithStrict", (t) => {
  const json = join(temporaryFolder(t), "compare.json");
  const { status, stdout, stderr } = run([
    "compare",
    asset("models", "unet.onnx"),
    "--left",
    "pc/strict",
    "--right",
    "pc/webgl,pc/webgpu,chrome/webgl",
    "--json",
    json,
  ]);
  assert.equal(status, 0, stdout + stderr);
  for (const one of JSON.parse(readFileSync(json, "utf8")).right) {
    assert.equal(one.verify.verdict, "rounding", one.target);
    assert.equal(one.output.agree, true, one.target);
  }
});

// ONNX Runtime Web 1.30.0 computes a 5 × 5 convolution of six channels wrongly on WebGPU, on SwiftShader as
// on lavapipe, and LeNet-5 sees another digit.
test("Run_LeNet5OnOrtWebGpu_IsAFaultOfItsSecondConvolution", (t) => {
  const trace = join(temporaryFolder(t), "trace.safetensors");
  const lenet5 = asset("models", "lenet5.onnx");
  const ran = run(["run", lenet5, "--target", "chrome/ort-webgpu", "--trace", trace]);
  assert.equal(ran.status, 0, ran.stderr);
  const verified = run(["verify", lenet5, trace, "--json", "-"]);
  assert.equal(verified.status, 1, verified.stderr);
  const { layers } = JSON.parse(verified.stdout);
  const faults = layers.filter(({ verdict }) => verdict === "fault").map(({ node }) => node);
  assert.deepEqual(faults, ["conv2"]);
});

test("Run_ChromeOrtWebGl_EveryLayerOfAModelWithFixedSizesIsRight", (t) => {
  const folder = temporaryFolder(t);
  const trace = join(folder, "trace.safetensors");
  const fixed = join(folder, "fixed.onnx");
  // Its importer takes no symbolic sizes: dim_param "N" becomes dim_value 1, in as many bytes.
  const bytes = readFileSync(model).toString("latin1");
  const named = bytes.replaceAll("\x0a\x03\x12\x01N", "\x0a\x03\x08\x81\x00");
  writeFileSync(fixed, Buffer.from(named, "latin1"));
  const ran = run(["run", fixed, "--target", "chrome/ort-webgl", "--trace", trace]);
  assert.equal(ran.status, 0, ran.stderr);
  const verified = run(["verify", fixed, trace, "--json", "-"]);
  assert.equal(verified.status, 0, verified.stdout + verified.stderr);
});

test("Run_SafariWebGpu_SaysThatTheBrowserHasNone", () => {
  const { status, stderr } = run(["run", model, "--target", "safari/webgpu", "--outputs-only"]);
  assert.equal(status, 3, stderr);
  assert.match(stderr, /no WebGPU/);
});

test("DoctorGpus_EveryBrowser_SaysWhichDeviceItsRunsGet", (t) => {
  const { status, stdout, stderr } = run(["doctor", "--gpus", "--json", "-", "--quiet"], {
    timeout: 300_000,
  });
  assert.equal(status, 0, stderr);
  const { findings } = JSON.parse(stdout);
  const devices = findings.filter(({ what }) => what.endsWith("'s device"));
  for (const target of ["chrome/webgpu", "chrome/webgl", "firefox/webgl", "safari/webgl"]) {
    const named = devices.find(({ what }) => what === `${target}'s device`);
    assert.equal(named?.ok, true, target);
    // As a run of the target records it.
    const trace = join(temporaryFolder(t), "trace.safetensors");
    assert.equal(run(["run", model, "--target", target, "--outputs-only", "--trace", trace]).status, 0);
    assert.equal(named.detail, JSON.parse(readSafetensors(trace).metadata.run).device);
  }
  const safari = devices.find(({ what }) => what === "safari/webgpu's device");
  assert.equal(safari.ok, false);
  assert.match(safari.detail, /no WebGPU/);
  assert.equal(run(["doctor", model, "--gpus"]).status, 2);
});
