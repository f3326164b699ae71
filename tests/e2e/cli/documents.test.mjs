// Everything that the program writes for others is what the schemas of documents say; and what is generated
// from them and lies in the repository is up to date.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { faultsOf, faultsOfMetadata } from "../document_schema.mjs";
import { asset, readSafetensors, root, run, temporaryFolder } from "../support.mjs";

const lenet = asset("models", "lenet5.onnx");
const digits = ["digits-test-images.idx3-ubyte", "digits-test-labels.idx1-ubyte"].map((name) =>
  asset("data", name),
);

// Runs a command that writes a document, and reads it; the exit codes that it may have.
function written(t, args, { option = "--json", codes = [0], name = "out.json" } = {}) {
  const path = join(temporaryFolder(t), name);
  const { status, stderr } = run([...args, option, path], { checkDocuments: false });
  assert.ok(codes.includes(status) && existsSync(path), stderr);
  return JSON.parse(readFileSync(path, "utf8"));
}

test("Documents_OfTheCommands_AreWhatTheirSchemasSay", (t) => {
  const trace = join(temporaryFolder(t), "trace.safetensors");
  const recorded = run([
    "run",
    lenet,
    "--target",
    "pc/fast",
    "--trace",
    trace,
    "--repeat-check",
    "3",
    "--quiet",
  ]);
  assert.equal(recorded.status, 0, recorded.stderr);
  assert.deepEqual(faultsOfMetadata(readSafetensors(trace).metadata), []);
  const empty = join(temporaryFolder(t), "empty.safetensors");
  writeFileSync(empty, "");
  const documents = {
    verify: written(t, ["verify", lenet, trace, "--quiet", "--budgets", "wpt"]),
    "verify of two": written(t, ["verify", lenet, trace, trace, "--quiet"]),
    compare: written(
      t,
      [
        "compare",
        lenet,
        "--right",
        `pc/fast,file/${empty}`,
        "--dataset",
        `idx:${digits}`,
        "--observer-check",
        "--memory-runs",
        "20",
        "--repeat-check",
        "2",
        "--times",
        "0.05",
        "--quiet",
      ],
      { codes: [0, 1, 2] },
    ),
    bench: written(t, [
      "bench",
      lenet,
      "--targets",
      "pc/strict,pc/fast",
      "--base",
      "pc/strict",
      "--time",
      "0.2",
      "--no-save",
      "--quiet",
    ]),
    baseline: written(t, ["baseline", "save", lenet, "--targets", "pc/strict", "--no-times", "--quiet"], {
      option: "--out",
    }),
    doctor: written(t, ["doctor"], { codes: [0, 3] }),
    conformance: written(
      t,
      ["conformance", "--targets", "pc/strict,pc/reference", "--filter", "*relu*", "--quiet"],
      {
        codes: [0, 1],
      },
    ),
  };
  for (const [name, document] of Object.entries(documents)) assert.deepEqual(faultsOf(document), [], name);
});

test("Documents_ThatDoNotFit_AreNoticed", (t) => {
  const whole = written(t, [
    "verify",
    lenet,
    join(root, "tests", "data", "pytorch-lenet5.safetensors"),
    "--quiet",
  ]);
  const [layer] = whole.layers;
  const faults = (change) => faultsOf({ ...whole, ...change });
  assert.deepEqual(faults({}), []);
  assert.deepEqual(faults({ new: 1 }), ["document.new is in no schema"]);
  assert.deepEqual(faults({ target: undefined }), ["document.target is missing"]);
  const verdicts = "identical,rounding,unjudged,suspect,fault,missing";
  assert.deepEqual(faults({ layers: [{ ...layer, verdict: "odd" }] }), [
    `document.layers[0].verdict: expected one of ${verdicts}, got "odd"`,
  ]);
  assert.deepEqual(faults({ layers: [{ ...layer, max_abs: "x" }] }), [
    'document.layers[0].max_abs: expected real, got "x"',
  ]);
  assert.match(faults({ format: "driftscope-verify-2" })[0], /no schema has the format/);
});

test("Documents_GeneratedFromTheSchemas_AreUpToDate", () => {
  const { status, stdout, stderr } = spawnSync("python3", [join(root, "tools", "documents"), "--check"], {
    encoding: "utf8",
  });
  assert.equal(status, 0, stdout + stderr);
});
