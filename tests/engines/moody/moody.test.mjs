// Faults that one run does not show: the repeat check, and memory over runs.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { asset, extended, readSafetensors, run, temporaryFolder } from "../../e2e/support.mjs";

const lenet1 = asset("models", "lenet1.onnx");
const driftscope = (...args) => run([...args, "--quiet"], { program: extended });
const target = (mood, node = 0) => `pc/moody:mood=${mood},node=${node}`;

test("RepeatCheck_RightOnlyTheFirstTime_NamesTheLayerAndTheRightRun", () => {
  const { status, stdout, stderr } = driftscope(
    ...["run", lenet1, "--target", target("first", 2), "--repeat-check", "4"],
  );
  assert.equal(status, 1, stderr);
  assert.match(stdout, /run 2 differs from run 1, first at \S+ \(\w+\): 17 of \d+ elements, by up to 0\.5/);
  assert.match(stdout, /run 1 is right: \w+, run 2 is wrong: fault/);
  assert.match(stdout, /runs 2 to 4 agree/);
});

test("RepeatCheck_RightOnlyAfterTheFirstTime_NamesTheWrongRun", (t) => {
  const json = join(temporaryFolder(t), "compare.json");
  const right = target("later", 2);
  const args = ["--left", "pc/strict", "--right", right, "--repeat-check", "3", "--json", json];
  const { status, stdout, stderr } = driftscope("compare", lenet1, ...args);
  assert.equal(status, 1, stderr);
  assert.match(stdout, /run 1 is wrong: fault, run 2 is right/);
  const { left, right: others, gate, headline } = JSON.parse(readFileSync(json, "utf8"));
  assert.equal(left.verify.repeat_check.agree, true);
  assert.equal(left.verify.repeat_check.runs, 3);
  const check = others[0].verify.repeat_check;
  assert.equal(check.agree, false);
  assert.deepEqual(
    check.different.map(({ run: at }) => at),
    [2, 3],
  );
  assert.equal(check.different[0].verdict_first, "fault");
  assert.match(headline, /runs differ at /);
  assert.ok(gate.failures.some(({ kind }) => kind === "unrepeatable"));
});

test("RepeatCheck_StandsInTheTrace_AndVerifyJudgesItAgain", (t) => {
  const file = join(temporaryFolder(t), "moody.safetensors");
  const recorded = ["run", lenet1, "--target", target("first", 2), "--repeat-check", "3", "--trace", file];
  const { status, stdout } = driftscope(...recorded);
  assert.equal(status, 1);
  const { metadata, tensors } = readSafetensors(file);
  const check = JSON.parse(metadata.run).repeat_check;
  assert.equal(check.different.length, 2);
  const [{ run: at, value }] = check.different;
  assert.ok(tensors.has(`driftscope.run${at}/${value}`));
  const verified = driftscope("verify", lenet1, file);
  assert.equal(verified.status, 1);
  const line = /run 2 differs .*/.exec(stdout)[0];
  assert.ok(verified.stdout.includes(line), verified.stdout);
  assert.match(verified.stdout, /verdict: ✗ fault, first fault at/);
  assert.equal(driftscope("verify", lenet1, file, "--fail-on", "unrepeatable").status, 1);
});

test("RepeatCheck_SignsOfZerosAlone_AreReportedApart", () => {
  const { status, stdout } = driftscope(
    ...["run", lenet1, "--target", target("zeros", 1), "--repeat-check", "2"],
  );
  if (/agree bit for bit/.test(stdout)) return; // no zero there to turn
  assert.equal(status, 1);
  assert.match(stdout, /the signs of \d+ zeros, of \d+ elements/);
});

test("RepeatCheck_CleanEngines_Agree", () => {
  for (const clean of ["pc/strict", "pc/fast", target("none")]) {
    const { status, stdout, stderr } = driftscope("run", lenet1, "--target", clean, "--repeat-check", "5");
    assert.equal(status, 0, stderr);
    assert.match(stdout, /all 5 runs agree bit for bit \(\d+ values each\)/);
  }
});

test("RepeatCheck_NeedsTwoRuns_AndNoDataSet", () => {
  assert.equal(driftscope("run", lenet1, "--repeat-check", "1").status, 2);
  const { status, stderr } = driftscope(
    ...["compare", lenet1, "--right", "pc/fast", "--fail-on", "unrepeatable", "--repeat", "1"],
  );
  assert.equal(status, 1, stderr);
});

test("MemoryRuns_ALeak_IsNamedWithItsSize", (t) => {
  const json = join(temporaryFolder(t), "compare.json");
  const right = target("leak");
  const args = ["--left", "pc/strict", "--right", right, "--memory-runs", "200", "--json", json];
  const { status, stdout, stderr } = driftscope("compare", lenet1, ...args, "--repeat", "1");
  assert.equal(status, 1, stderr);
  assert.match(stdout, /memory over \d+ runs: grows; heap in use grows, \+262 kB per run/);
  const { left, right: others, gate } = JSON.parse(readFileSync(json, "utf8"));
  assert.notEqual(left.memory_runs.verdict, "grows", JSON.stringify(left.memory_runs));
  const { kinds, stopped } = others[0].memory_runs;
  assert.equal(stopped, "decided");
  const heap = kinds.find(({ kind }) => kind === "heap_in_use");
  assert.equal(heap.verdict, "grows");
  assert.ok(Math.abs(heap.bytes_per_run - 262144) < 4096, heap.bytes_per_run);
  assert.deepEqual(
    gate.failures.map(({ kind, target: of }) => [kind, of]),
    [["growing", "pc/moody:mood=leak,node=0"]],
  );
});

test("Generate_TokensThatAFaultChanges_AreFaults", () => {
  const decoder = asset("models", "decoder", "model.onnx");
  let flips = 0;
  for (const node of [1, 20, 30, 50]) {
    const args = ["--prompt", "12,40,7", "--prompt", "5,6,9,200", "--steps", "6", "--measure", "0"];
    const { status, stdout, stderr } = driftscope(
      ...["generate", decoder, ...args, "--targets", target("later", node), "--json", "-"],
    );
    assert.equal(status, 1, stderr);
    const [reference, wrong] = JSON.parse(stdout).targets;
    assert.ok(reference.sequences.every(({ steps }) => steps.every(({ flip }) => !flip)));
    for (const { steps } of wrong.sequences) {
      assert.equal(steps[0].verdict, "fault");
      for (const { flip } of steps.filter((step) => step.flip)) {
        ++flips;
        assert.equal(flip, "fault");
      }
    }
  }
  assert.ok(flips > 0);
});

test("Generate_AFaultOfTheReference_IsNoRoundingOfOthers", () => {
  const decoder = asset("models", "decoder", "model.onnx");
  const args = ["--prompt", "12,40,7", "--prompt", "5,6,9,200", "--steps", "6", "--measure", "0"];
  const { status, stdout, stderr } = driftscope(
    ...[
      "generate",
      decoder,
      ...args,
      "--reference",
      target("later", 30),
      "--targets",
      "pc/strict",
      "--json",
      "-",
    ],
  );
  assert.equal(status, 1, stderr);
  const [, right] = JSON.parse(stdout).targets;
  const steps = right.sequences.flatMap(({ steps: of }) => of);
  assert.ok(steps.every(({ verdict }) => verdict === "rounding" || verdict === "identical"));
  const flips = steps.map(({ flip }) => flip).filter(Boolean);
  assert.ok(flips.length > 0);
  assert.deepEqual([...new Set(flips)], ["fault"]);
});
