// The GPU engines in the browsers, on drivers that compute on the CPU where there is no GPU.
import assert from "node:assert/strict";
import { join } from "node:path";
import { readFileSync } from "node:fs";
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
  "chrome/ort-webgl",
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

test("Run_SafariWebGpu_SaysThatTheBrowserHasNone", () => {
  const { status, stderr } = run(["run", model, "--target", "safari/webgpu", "--outputs-only"]);
  assert.equal(status, 3, stderr);
  assert.match(stderr, /no WebGPU/);
});
