// driftscope generate: a decoder over many steps on several targets.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { asset, readSafetensors, run, temporaryFolder } from "../support.mjs";
import { faultsOf } from "../document_schema.mjs";

const decoder = asset("models", "decoder", "model.onnx");
const quick = ["--measure", "0", "--quiet"];

function generated(...args) {
  const { status, stdout, stderr } = run(["generate", decoder, ...quick, "--json", "-", ...args]);
  assert.equal(status, 0, stderr);
  const document = JSON.parse(stdout);
  assert.deepEqual(faultsOf(document), []);
  return document;
}

test("Generate_Targets_AreJudgedStepByStep", (t) => {
  const keep = join(temporaryFolder(t), "steps");
  const document = generated(
    "--prompt",
    "12,40,7",
    "--steps",
    "5",
    "--targets",
    "pc/fast",
    "--free",
    "--keep",
    keep,
  );
  assert.equal(document.reference, "pc/strict");
  assert.equal(document.vocabulary, 490);
  assert.deepEqual(
    document.targets.map(({ target }) => target),
    ["pc/strict", "pc/fast"],
  );
  for (const { layers, sequences } of document.targets) {
    assert.ok(layers.includes("present.1.value") && layers.includes("logits"));
    const [{ prompt, steps, free }] = sequences;
    assert.deepEqual(prompt, [12, 40, 7]);
    assert.equal(steps.length, 5);
    assert.deepEqual(
      free,
      steps.map(({ token }) => token),
    );
    for (const step of steps) {
      assert.match(step.layers, /^[=~]+$/);
      assert.equal(step.layers.length, layers.length);
      assert.equal(step.flip, undefined);
      assert.ok(step.margin > 0);
    }
  }
  assert.equal(readdirSync(keep).length, 10);
  // Every step is a trace that verify takes, with the cache of all tokens so far.
  const file = join(keep, "pc-fast-prompt-0-step-4.safetensors");
  assert.deepEqual(readSafetensors(file).tensors.get("present.0.key").shape, [1, 4, 7, 8]);
  assert.equal(run(["verify", decoder, file]).status, 0);
});

test("Generate_WithCaches_ChoosesWhatAWholePassChooses", (t) => {
  const folder = temporaryFolder(t);
  const [{ sequences }] = generated("--prompt", "5,6,9", "--prompt", "30", "--steps", "6").targets;
  for (const { prompt, steps } of sequences) {
    const tokens = [...prompt, ...steps.slice(0, -1).map(({ token }) => token)];
    const out = join(folder, "keep");
    generated("--prompt", tokens.join(","), "--steps", "1", "--keep", out);
    const { tensors } = readSafetensors(join(out, "pc-strict-prompt-0-step-0.safetensors"));
    const { shape, bytes } = tensors.get("logits");
    assert.deepEqual(shape, [1, tokens.length, 490]);
    const logits = new Float32Array(Uint8Array.from(bytes).buffer);
    for (let step = 0; step < steps.length; step++) {
      const row = logits.subarray((prompt.length - 1 + step) * 490, (prompt.length + step) * 490);
      assert.equal(row.indexOf(Math.max(...row)), steps[step].token, `step ${step}`);
    }
  }
});

test("Generate_StopsAtAToken_PrintsATable_AndWritesAPage", (t) => {
  const page = join(temporaryFolder(t), "page.html");
  // The model may stand behind any option.
  const args = ["--steps", "9", "-o", page, "--targets", "pc/fast", "--stop-at", "49", "--prompt", "12,40,7"];
  const { status, stdout, stderr } = run(["generate", ...args, decoder]);
  assert.equal(status, 0, stderr);
  assert.match(stdout, /pc\/fast +~ rounding +\d+ +0 +– /);
  assert.match(stdout, /prompt 0 +pc\/strict +226 48 227 49\n/);
  assert.match(stderr, /pc\/fast: decoding/);
  const html = readFileSync(page, "utf8");
  assert.match(html, /pc\/fast: 75 layers in 4 steps, 0 beyond rounding/);
  assert.match(html, /None\./);
});

test("Generate_WrongUse_SaysWhatIsExpected", (t) => {
  const fault = (args, pattern) => {
    const { status, stderr } = run(["generate", ...args]);
    assert.equal(status, 2, stderr);
    assert.match(stderr, pattern);
  };
  fault(
    [asset("models", "lenet5.onnx"), "--prompt", "1"],
    /no input takes tokens: expected integers \[batch, sequence\]/,
  );
  fault([decoder, "--prompt", "1,2,490"], /prompt 0: token 490; expected 0 to 489, the vocabulary/);
  fault([decoder, "--prompt", "1,x"], /expected numbers of tokens with commas/);
  fault([decoder, "--prompt", "1,-4"], /token -4/);
  fault([decoder, "--prompt", join(temporaryFolder(t), "none.npy")], /none.npy/);
  fault([decoder, "--prompt", "1", "--input", "extra"], /expected NAME=FILE.npy/);
  fault([decoder, "--prompt", "1", "--targets", "pc/nothing"], /nothing/);
  fault([decoder], /--prompt/);
  // Longer than the positions that it has learnt.
  fault([decoder, "--prompt", Array(97).fill(5).join(","), "--steps", "1"], /pc\/strict: .*positions/);
});
