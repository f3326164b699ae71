// A web team's own page, in Chromium: its results are compared with the PC.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { driftscope, root, temporaryFolder } from "../../e2e/support.mjs";
import { chain } from "../../e2e/tiny_onnx.mjs";
import { closeBrowser, openPage } from "../page/support.mjs";

const { assertPassed, comparePage, tensorsFromPage } = await import(join(root, "web", "npm", "index.mjs"));
after(() => closeBrowser());

// Their page: a network of its own in JavaScript, under a policy that compiles no text. `wrong` is a bug.
const html = '<meta http-equiv="Content-Security-Policy" content="script-src \'none\'"><title>ours</title>';
function collect({ wrong }) {
  const x = Float32Array.from({ length: 6 }, (_, i) => i - 2.5);
  const relu = (values) => values.map((value) => Math.max(value, 0));
  const v0 = relu(x);
  const v1 = relu(v0);
  if (wrong) v1[4] += 1e-3;
  return {
    x: { type: "float32", dims: [2, 3], data: x },
    v0: { shape: [2, 3], data: v0 },
    v1: { shape: [2, 3], data: Array.from(v1) },
    y: { shape: [2, 3], data: relu(v1) },
  };
}

async function ours(t) {
  const model = join(temporaryFolder(t), "net.onnx");
  writeFileSync(model, chain("Relu", 3, [2, 3]));
  const { page } = await openPage(t);
  await page.setContent(html);
  return { page, model };
}

test("OwnPage_ThatComputesRight_Passes", async (t) => {
  const { page, model } = await ours(t);
  const result = await comparePage({
    page,
    model,
    collect,
    arg: { wrong: false },
    name: "ours",
    failOn: ["fault", "bits"],
    program: driftscope,
  });
  assertPassed(result);
  assert.equal(result.report.right[0].verify.target, "page/ours");
  assert.equal(result.report.right[0].layers.length, 3);
});

test("OwnPage_WithABugInOneLayer_FailsAtThatLayer", async (t) => {
  const { page, model } = await ours(t);
  const result = await comparePage({ page, model, collect, arg: { wrong: true }, program: driftscope });
  assert.equal(result.passed, false);
  assert.equal(result.exitCode, 1);
  assert.deepEqual(
    result.failures.map(({ name }) => name),
    ["Relu1 (Relu)"],
  );
  assert.throws(() => assertPassed(result), { name: "AssertionError", message: /Relu1 \(Relu\): output v1/ });
});

test("OwnPage_ThatGivesNoTensors_SaysSo", async (t) => {
  const { page, model } = await ours(t);
  await assert.rejects(
    tensorsFromPage(page, () => ({})),
    /no tensor/,
  );
  await assert.rejects(
    comparePage({ page, model, collect: () => ({ x: { shape: [1], data: "text" } }), program: driftscope }),
    /"x": data must be/,
  );
  await assert.rejects(
    comparePage({
      page,
      model,
      collect: () => {
        throw new Error("their own");
      },
      program: driftscope,
    }),
    /their own/,
  );
});
