// Which wrong layers the answer depends on: explain --matters and compare --matters.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { asset, extended, run, temporaryFolder } from "../../e2e/support.mjs";

const lenet1 = asset("models", "lenet1.onnx"); // two convolutions and a Gemm
const driftscope = (...args) => run([...args, "--quiet"], { program: extended });

function explained(t, options) {
  const trace = join(temporaryFolder(t), "planted.safetensors");
  assert.equal(driftscope("run", lenet1, "--target", `pc/planted:${options}`, "--trace", trace).status, 0);
  const text = driftscope("explain", lenet1, trace, "--matters");
  assert.equal(text.status, 1, text.stderr);
  const json = driftscope("explain", lenet1, trace, "--matters", "--json", "-");
  assert.equal(json.status, 1, json.stderr);
  return { text: text.stdout, document: JSON.parse(json.stdout) };
}

test("Matters_OneLayerThatChangesTheAnswer_SufficesAlone", (t) => {
  const { text, document } = explained(t, "conv=slightly,gemm=reversed");
  const { matters, layers } = document;
  assert.equal(layers.length, 3);
  assert.deepEqual(
    matters.alone,
    layers.filter(({ op }) => op === "Gemm").map(({ node }) => node),
  );
  assert.equal(matters.was_right, false);
  assert.equal(matters.layers, 3);
  assert.equal(matters.together, undefined);
  assert.match(matters.text, /^with \S+ alone right, the answer is right on pc\/planted/);
  assert.ok(text.includes(matters.text), text);
  for (const { op, matters: one } of layers) assert.equal(one.right, op === "Gemm", op);
});

test("Matters_TwoLayersThatChangeTheAnswer_SufficeTogether", (t) => {
  const { document } = explained(t, "conv=reversed,gemm=reversed");
  const { matters, layers } = document;
  assert.ok(layers.length >= 3);
  assert.deepEqual(matters.alone, []);
  assert.equal(matters.together, true);
  assert.match(
    matters.text,
    /no layer suffices alone of 3 wrong ones; with all of them right, the answer is/,
  );
});

test("Matters_LayerThatChangesNothing_IsSaid", (t) => {
  const { document } = explained(t, "gemm=slightly");
  assert.equal(document.matters.was_right, true);
  assert.match(document.matters.text, /the answer is right on pc\/planted\S* with this layer wrong as well/);
});

test("CompareMatters_IsInHeadlineTableReportAndJson", (t) => {
  const folder = temporaryFolder(t);
  const [json, report] = ["compare.json", "report.html"].map((name) => join(folder, name));
  const right = "pc/planted:gemm=reversed";
  const args = ["compare", lenet1, "--left", "pc/strict", "--right", right];
  const made = driftscope(...args, "--matters", "--json", json, "-o", report);
  assert.equal(made.status, 1, made.stderr);
  const { headline, right: targets, command } = JSON.parse(readFileSync(json, "utf8"));
  const { matters, layers } = targets[0].verify;
  assert.equal(matters.alone.length, 1);
  const wrong = layers.filter(({ explain }) => explain);
  assert.equal(wrong.length, 1);
  assert.equal(wrong[0].explain.matters.right, true);
  assert.match(headline, /; with \S+ right the answer is right on /);
  assert.match(command, / --matters/);
  assert.ok(made.stdout.includes(matters.text), made.stdout);
  assert.ok(readFileSync(report, "utf8").includes(wrong[0].explain.matters.answer_with_layer_right));
  const without = JSON.parse(driftscope(...args, "--json", "-").stdout);
  assert.equal(without.right[0].verify.matters, undefined);
});
