// Recorded traces that do not fit as they are: other names, truncated, incomplete, invalid numbers.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { asset, readSafetensors, run, sanitized, temporaryFolder, writeSafetensors } from "../support.mjs";
import { chain } from "../tiny_onnx.mjs";

const lenet5 = asset("models", "lenet5.onnx");

function recorded(t) {
  const folder = temporaryFolder(t);
  const path = join(folder, "good.safetensors");
  assert.equal(run(["run", lenet5, "--trace", path]).status, 0);
  return { folder, path, ...readSafetensors(path) };
}

// As another exporter would name them: numbered, without information about the model.
function renamed({ folder, metadata, tensors }, change = () => {}) {
  const order = JSON.parse(metadata.nodes).flatMap(({ outputs }) => outputs);
  const inputs = [...tensors.keys()].filter((name) => !order.includes(name));
  const names = new Map([...inputs, ...order].map((name, i) => [name, `tensor_${i}`]));
  const others = new Map(
    [...names].map(([name, other]) => [
      other,
      { ...tensors.get(name), bytes: Buffer.from(tensors.get(name).bytes) },
    ]),
  );
  change(others, names);
  const path = join(folder, "renamed.safetensors");
  writeSafetensors(path, others);
  return path;
}

test("Verify_TraceWithOtherNames_IsMatchedByPositionAndSaysSo", (t) => {
  const trace = recorded(t);
  const path = renamed(trace);
  const { status, stdout, stderr } = run(["verify", lenet5, path]);
  assert.equal(status, 0, stderr);
  assert.match(stdout, /\d+ values matched by position and shape \('tensor_0' is '/);
  const json = JSON.parse(run(["verify", lenet5, path, "--json", "-"]).stdout);
  assert.match(json.names, /matched by position/);
  assert.equal(json.layers.length, JSON.parse(trace.metadata.nodes).length);
});

test("Verify_FaultUnderAnotherName_IsChargedToTheModelsNode", (t) => {
  const trace = recorded(t);
  const gemm = JSON.parse(trace.metadata.nodes).find(({ op }) => op === "Gemm");
  const path = renamed(trace, (tensors, names) => {
    const { bytes } = tensors.get(names.get(gemm.outputs[0]));
    bytes.writeFloatLE(bytes.readFloatLE(0) + 1, 0);
  });
  const { status, stdout } = run(["verify", lenet5, path, "--json", "-"]);
  assert.equal(status, 1);
  assert.equal(JSON.parse(stdout).first_fault, gemm.name);
});

test("Compare_TraceWithOtherNames_ShowsThemOnTheTerminalInJsonAndInTheReport", (t) => {
  const trace = recorded(t);
  const path = renamed(trace, (tensors) =>
    tensors.set("extra", { dtype: "F32", shape: [7, 7], bytes: Buffer.alloc(196) }),
  );
  const html = join(trace.folder, "report.html");
  const json = join(trace.folder, "compare.json");
  const { status, stdout, stderr } = run([
    "compare",
    lenet5,
    "--right",
    `file/${path}`,
    "--report",
    html,
    "--json",
    json,
  ]);
  assert.equal(status, 0, stderr);
  assert.match(stdout, /agrees with pc\/strict bit for bit, same answer/);
  for (const text of [
    stdout,
    readFileSync(html, "utf8").replaceAll("&#39;", "'"),
    JSON.parse(readFileSync(json, "utf8")).right[0].names,
  ]) {
    assert.match(text, /matched by position and shape/);
    assert.match(text, /1 tensor of the trace is not a value of the model \('extra'\)/);
  }
});

test("Compare_TraceOfAnotherModel_IsAnErrorThatSaysWhatToDo", (t) => {
  const folder = temporaryFolder(t);
  const other = join(folder, "other.safetensors");
  assert.equal(run(["run", asset("models", "lenet1.onnx"), "--trace", other]).status, 0);
  const { status, stderr } = run(["compare", lenet5, "--right", `file/${other}`]);
  assert.equal(status, 2);
  const rejection = /another model: expected sha256 [0-9a-f]{64}, got [0-9a-f]{64}; name the model/;
  assert.match(stderr, rejection);
  // With more than one thread the model is hashed while it is judged.
  for (const threads of ["1", "2"]) {
    const verified = run(["verify", lenet5, other, "--threads", threads]);
    assert.equal(verified.status, 2);
    assert.match(verified.stderr, rejection);
    assert.doesNotMatch(verified.stdout, /verdict/);
  }
});

test("Verify_TraceThatSaysNoModel_IsOfTheOneThatWasNamed", (t) => {
  const trace = recorded(t);
  const path = renamed(trace);
  const sha256 = createHash("sha256").update(readFileSync(lenet5)).digest("hex");
  for (const threads of ["1", "2"]) {
    const { status, stdout } = run(["verify", lenet5, path, "--threads", threads, "--json", "-"]);
    assert.equal(status, 0);
    assert.equal(JSON.parse(stdout).model_sha256, sha256);
  }
});

test("Compare_RunStillBeingWritten_SaysSo", (t) => {
  const { folder, path } = recorded(t);
  const bytes = readFileSync(path);
  const half = join(folder, "half.safetensors");
  for (const length of [bytes.length - 100, 300]) {
    writeFileSync(half, bytes.subarray(0, length));
    const { status, stderr, stdout } = run(["compare", lenet5, "--right", `pc/reference,file/${half}`]);
    assert.equal(status, 2);
    assert.match(stderr, /half\.safetensors.*truncated, (or )?still being written/);
    assert.match(stdout, /agrees with pc\/strict/); // finished results are kept
  }
});

test("Compare_NaNAndInfinityEverywhere_IsAFaultAndAWholeReport", (t) => {
  const { folder, tensors, metadata } = recorded(t);
  const order = JSON.parse(metadata.nodes).flatMap(({ outputs }) => outputs);
  const odd = new Map(
    [...tensors].map(([name, tensor]) => {
      const bytes = Buffer.from(tensor.bytes);
      if (order.includes(name))
        for (let at = 0; at < bytes.length; at += 4)
          bytes.writeFloatLE([NaN, Infinity, -Infinity][(at / 4) % 3], at);
      return [name, { ...tensor, bytes }];
    }),
  );
  const path = join(folder, "odd.safetensors");
  writeSafetensors(path, odd, metadata);
  const html = join(folder, "report.html");
  const { status, stdout } = run([
    "compare",
    lenet5,
    "--right",
    `file/${path}`,
    "--report",
    html,
    "--json",
    "-",
    "--fail-on",
    "fault,top1",
  ]);
  assert.equal(status, 1);
  assert.equal(JSON.parse(stdout).right[0].verify.verdict, "fault");
  assert.match(readFileSync(html, "utf8"), /NaN or infinite/);
});

test("Compare_ZeroSizedTensors_GiveAReport", (t) => {
  const folder = temporaryFolder(t);
  const model = join(folder, "empty.onnx");
  writeFileSync(model, chain("Relu", 2, [0, 3]));
  const html = join(folder, "report.html");
  const { status, stderr } = run([
    "compare",
    model,
    "--right",
    "pc/reference",
    "--report",
    html,
    "--junit",
    join(folder, "out.xml"),
  ]);
  assert.equal(status, 0, stderr);
  assert.match(readFileSync(html, "utf8"), /0x3/);
});

test("Compare_ThousandsOfLayers_StaysSmallAndWhole", (t) => {
  const layers = sanitized ? 4_000 : 20_000;
  const folder = temporaryFolder(t);
  const model = join(folder, "deep.onnx");
  writeFileSync(model, chain("Relu", layers, [1, 4]));
  const html = join(folder, "report.html");
  const xml = join(folder, "out.xml");
  const { status, stderr } = run(
    ["compare", model, "--right", "pc/reference", "--quiet", "--report", html, "--junit", xml],
    { timeout: 600_000 },
  );
  assert.equal(status, 0, stderr);
  assert.ok(readFileSync(html).length < 2_000_000);
  assert.match(readFileSync(html, "utf8"), /Left out/);
  assert.match(readFileSync(xml, "utf8"), new RegExp(`${layers - 2000} more layers`));
});
