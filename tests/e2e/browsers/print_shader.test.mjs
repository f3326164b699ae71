// The shaders that GPU engines make for a node in the browsers: the text that the PC prints for its own.
import assert from "node:assert/strict";
import { test } from "node:test";
import { asset, run } from "../support.mjs";

const model = asset("models", "lenet5.onnx");

function shadersOf(target, node, ...more) {
  const { status, stdout, stderr } = run(["run", model, "--target", target, "--print-shader", node, ...more]);
  assert.equal(status, 0, `${target}: ${stderr}`);
  const [title, , device, driver] = stdout.split("\n");
  assert.ok(title.startsWith(`// lenet5`) && title.includes(target), title);
  assert.match(device, /^\/\/ device: \S/, target);
  assert.match(driver, /^\/\/ driver: /, target);
  return stdout;
}

/** Without what is about the target: title, device and driver. */
const withoutTarget = (text) =>
  text.split("\n").filter((line, i) => i > 0 && !/^\/\/ (device|driver): /.test(line));

test("PrintShader_OfAReluInChromium_IsThatOfThePc", () => {
  const here = shadersOf("pc/webgpu", "relu1");
  const there = shadersOf("chrome/webgpu", "relu1");
  assert.match(there, /@compute/);
  assert.deepEqual(withoutTarget(there), withoutTarget(here));
});

test("PrintShader_OfAConvolutionOnWebGpu_HasSourcesAndBindings", () => {
  const text = shadersOf("chrome/webgpu", "conv1");
  assert.match(
    text,
    /^\/\/ shader 1 of \d+: WGSL from \S+\.wgsl, dispatched as \d+ × \d+ × \d+ workgroups$/m,
  );
  assert.match(text, /^\/\/ {3}binding \d+: .*, read, float32\[/m);
  assert.match(text, /^\/\/ {3}binding \d+: .*, written, float32\[/m);
  assert.match(text, /@compute/);
});

// WebKitGTK has WebGL on the page alone.
for (const target of ["chrome/webgl", "safari/webgl"])
  test(`PrintShader_Of${target}_HasSourcesAndTextures`, () => {
    const text = shadersOf(target, "conv1");
    assert.match(text, /^\/\/ shader 1 of \d+: .* from \S+\.glsl, drawn to \d+ × \d+ pixels$/m);
    assert.match(text, /^\/\/ {3}texture \d+: .*, written, float32\[/m);
    assert.match(text, /void main\(\)/);
  });

test("PrintShader_InABrowserWithOutputsOnly_IsThatOfTheGroup", () => {
  const [, title] = shadersOf("chrome/webgpu", "conv1", "--outputs-only").split("\n");
  assert.match(title, /conv1.* \+ .*relu1.*: fused, they run as one/);
});

test("PrintShader_OfABrowserTargetThatHasNone_IsAnErrorBeforeItStarts", () => {
  for (const target of ["chrome/strict", "chrome/ort-webgpu"]) {
    const { status, stderr } = run(["run", model, "--target", target, "--print-shader", "conv1"]);
    assert.notEqual(status, 0);
    assert.match(stderr, new RegExp(`${target} has no shaders .*chrome/webgpu`));
  }
  const unknown = run(["run", model, "--target", "chrome/webgpu", "--print-shader", "conv99"]);
  assert.equal(unknown.status, 2);
  assert.match(unknown.stderr, /there is no node .*conv99/);
});

test("PrintShader_OfABrowserWithoutWebGpu_SaysThatItHasNone", () => {
  const { status, stderr } = run(["run", model, "--target", "safari/webgpu", "--print-shader", "conv1"]);
  assert.equal(status, 3, stderr);
  assert.match(stderr, /no WebGPU/);
});
