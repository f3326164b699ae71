// The gradient of a model is a model: every engine runs it, and verify judges it.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { asset, run, temporaryFolder } from "../support.mjs";

test("Gradient_OfLeNet5_RunsOnEveryEngineOfThePC", (t) => {
  const graph = join(temporaryFolder(t), "gradient.onnx");
  const made = run(["gradient", asset("models", "lenet5.onnx"), "-o", graph]);
  assert.equal(made.status, 0, made.stderr);
  assert.match(
    made.stdout,
    /input label: int64 N\n {2}output loss: float32 scalar\n {2}output grad\/input: float32 Nx1x28x28/,
  );
  const targets = "pc/strict,pc/fast,pc/ort";
  const compared = run(["compare", graph, "--left", "pc/reference", "--right", targets, "--json", "-"]);
  assert.equal(compared.status, 0, compared.stderr);
  for (const { verify } of JSON.parse(compared.stdout).right) {
    assert.match(verify.verdict, /^(identical|rounding)$/);
    assert.ok(verify.layers.some((layer) => layer.output === "grad/input"));
  }
});

test("Gradient_OfWhatHasNone_SaysWhy", (t) => {
  const graph = join(temporaryFolder(t), "gradient.onnx");
  const fails = (model, ...more) => {
    const result = run(["gradient", asset("models", model), ...more, "-o", graph]);
    assert.equal(result.status, 2);
    return result.stderr;
  };
  assert.match(fails("resnet20-int8.onnx"), /DequantizeLinear.*--straight-through/);
  assert.match(fails("lenet5-int8.onnx", "--straight-through"), /quantized numbers|integers/);
  assert.match(fails("unet.onnx"), /--of logits/);
  assert.match(fails("lenet5.onnx", "--wrt", "nothing"), /no such value/);
  assert.match(fails("lenet5.onnx", "--input-shape", "1xx3"), /expected sizes such as/);
});
