// ONNX's cases in the formats of other runtimes, read again: both compute the same.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { driftscope, run, sanitized, temporaryFolder } from "../support.mjs";

const data = "/usr/share/libonnx-testdata/data";
const caseOf = (name) => join(data, "node", name);

const runs = (args) =>
  new Promise((resolve) =>
    execFile(driftscope, args, { timeout: 60_000 }, (error, stdout, stderr) =>
      resolve({ status: error ? (error.code ?? error.signal) : 0, said: stderr + stdout }),
    ),
  );

const formats = {
  tfjs: (folder) => join(folder, "model.json"),
  tflite: (file) => file,
};

/** What is wrong with a case in a format; undefined: nothing; null: it is not expressed there. */
async function wrongWith(folder, format, out) {
  const model = join(folder, "model.onnx");
  const written = await runs(["export", model, `--${format}`, out]);
  if (written.status === 2) return null;
  if (written.status !== 0) return `export: ${written.status} ${written.said}`;
  const input = existsSync(join(folder, "test_data_set_0", "input_0.pb"))
    ? ["--input", join(folder, "test_data_set_0")]
    : [];
  const checked = await runs(["convert-check", model, formats[format](out), "--quiet", ...input]);
  return checked.status === 0 ? undefined : `${checked.status} ${checked.said}`;
}

test(
  "ConvertCheck_CasesOfOnnx_ComputeTheSameInOtherFormats",
  { skip: sanitized && "the fuzzer of exports has its models with sanitizers" },
  async (t) => {
    const folder = temporaryFolder(t);
    const waiting = readdirSync(data)
      .flatMap((family) => readdirSync(join(data, family)).map((name) => join(data, family, name)))
      .flatMap((path, i) => Object.keys(formats).map((format) => ({ path, format, i })))
      .filter(({ path }) => existsSync(join(path, "model.onnx")));
    const same = { tfjs: 0, tflite: 0 };
    const wrong = [];
    const work = async () => {
      for (let next; (next = waiting.pop());) {
        const { path, format, i } = next;
        const found = await wrongWith(path, format, join(folder, `${i}.${format}`));
        if (found === undefined) same[format] += 1;
        else if (found !== null) wrong.push(`${path} as ${format}: ${found}`);
      }
    };
    await Promise.all([work(), work()]);
    assert.deepEqual(wrong, []);
    assert.ok(same.tfjs > 650 && same.tflite > 580, JSON.stringify(same));
    t.diagnostic(`${same.tfjs} cases as a TensorFlow.js model, ${same.tflite} as a .tflite file`);
  },
);

test("ConvertCheck_IntegerToThePowerOfAFraction_IsCastAfterwards", async (t) => {
  const folder = temporaryFolder(t);
  const model = join(caseOf("test_pow_types_float"), "model.onnx"); // its own exponents are whole
  for (const format of Object.keys(formats)) {
    const out = join(folder, `pow.${format}`);
    assert.equal(run(["export", model, `--${format}`, out]).status, 0);
    const { status, stdout } = run(["convert-check", model, formats[format](out)]);
    assert.equal(status, 0, stdout);
  }
});

test("ConvertCheck_ShapeThatFitsSeveralOrders_IsGivenInTheOneThatAgrees", async (t) => {
  const out = join(temporaryFolder(t), "lrn.tflite");
  const model = join(caseOf("test_lrn"), "model.onnx"); // 5x5x5x5
  assert.equal(run(["export", model, "--tflite", out]).status, 0);
  const { status, stdout } = run(["convert-check", model, out]);
  assert.equal(status, 0, stdout);
  assert.match(stdout, /^x was given to B with its axes in the order \[0231\]/m);
});
