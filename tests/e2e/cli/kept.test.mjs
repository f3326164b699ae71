// A comparison that is kept as one file, and everything that opens it.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { asset, driftscope, root, run, temporaryFolder } from "../support.mjs";

const lenet5 = asset("models", "lenet5.onnx");
const digits = ["images.idx3", "labels.idx1"].map((file) => asset("data", `digits-test-${file}-ubyte`));
const digit = `idx:${digits.join(",")}#121`;

const python = (code, ...args) => {
  const { status, stdout, stderr } = spawnSync("python3", ["-c", code, ...args], { encoding: "utf8" });
  assert.equal(status, 0, stderr);
  return stdout;
};

/** {file, json, table}: LeNet-5 on pc/strict and pc/fast, kept. */
function keep(t, options = []) {
  const folder = temporaryFolder(t);
  const file = join(folder, "run.drift");
  const json = join(folder, "live.json");
  const live = run(
    [
      "compare",
      lenet5,
      "--input",
      digit,
      "--right",
      "pc/fast",
      "--quiet",
      "--save",
      file,
      "--json",
      json,
      ...options,
    ],
    { timeout: 300_000 },
  );
  assert.equal(live.status, 0, live.stderr);
  return { folder, file, json: readFileSync(json, "utf8"), table: live.stdout.replace(/^kept: .*\n/m, "") };
}

/** y = x + w in ONNX's protobuf, where w lies in a file of external data. */
function modelWithExternalData(location) {
  const varint = (value) => {
    const bytes = [];
    for (; value > 127; value = Math.floor(value / 128)) bytes.push((value % 128) + 128);
    return Buffer.from([...bytes, value]);
  };
  const number = (field, value) => Buffer.concat([varint(field * 8), varint(value)]);
  const bytes = (field, ...parts) => {
    const all = Buffer.concat(parts.map((part) => Buffer.from(part)));
    return Buffer.concat([varint(field * 8 + 2), varint(all.length), all]);
  };
  const float32 = 1;
  const value = (name) =>
    Buffer.concat([bytes(1, name), bytes(2, bytes(1, number(1, float32), bytes(2, bytes(1, number(1, 4)))))]);
  const external = bytes(13, bytes(1, "location"), bytes(2, location));
  const w = Buffer.concat([number(1, 4), number(2, float32), bytes(8, "w"), external, number(14, 1)]);
  const node = Buffer.concat([bytes(1, "x"), bytes(1, "w"), bytes(2, "y"), bytes(3, "sum"), bytes(4, "Add")]);
  const graph = [bytes(1, node), bytes(2, "g"), bytes(5, w), bytes(11, value("x")), bytes(12, value("y"))];
  return Buffer.concat([number(1, 8), bytes(7, ...graph), bytes(8, bytes(1, ""), number(2, 13))]);
}

/** The same file with one member replaced (by Python's zipfile, which is not ours), or left out. */
function changed(file, to, member, edit) {
  python(
    `
import sys, zipfile
old, new, member, edit = sys.argv[1:]
with zipfile.ZipFile(old) as a, zipfile.ZipFile(new, "w") as b:
    for one in a.infolist():
        data = a.read(one)
        if one.filename == member:
            if edit == "drop": continue
            data = eval(edit)(data)
        b.writestr(one.filename, data)
`,
    file,
    to,
    member,
    edit,
  );
  return to;
}

test("Compare_OfAKeptComparison_ShowsWhatTheLiveRunShowed", (t) => {
  const { folder, file, json, table } = keep(t);
  const shown = run(["compare", file, "--json", join(folder, "again.json")]);
  assert.equal(shown.status, 0, shown.stderr);
  assert.equal(shown.stdout, table);
  assert.equal(readFileSync(join(folder, "again.json"), "utf8"), json);
});

test("Report_OfAKeptComparison_IsThatOfTheLiveRun", (t) => {
  const live = join(temporaryFolder(t), "live.html");
  const { folder, file } = keep(t, ["--report", live]);
  const again = join(folder, "kept.html");
  assert.equal(run(["report", file, "--out", again]).status, 0);
  assert.equal(readFileSync(again, "utf8"), readFileSync(live, "utf8"));
});

test("Kept_IsAZipOfPartsThatOthersRead", (t) => {
  const { file } = keep(t);
  const parts = JSON.parse(
    python(
      `
import hashlib, json, struct, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as z:
    assert z.testzip() is None
    index = json.loads(z.read("drift.json"))
    model = index["model"]
    head = lambda data: json.loads(data[8:8 + struct.unpack("<Q", data[:8])[0]])
    print(json.dumps({
        "names": z.namelist(),
        "format": index["format"],
        "model": hashlib.sha256(z.read(model["files"][0]["member"])).hexdigest() == model["sha256"],
        "inputs": list(head(z.read(index["inputs"]))),
        "targets": [head(z.read(one["trace"]))["__metadata__"]["target"] for one in index["targets"]],
        "comparison": json.loads(z.read(index["comparison"]))["format"],
        "nodes": len(json.loads(z.read(index["graph"]))),
        "stored": [one.filename for one in z.infolist() if one.compress_type == 0]}))
`,
      file,
    ),
  );
  assert.deepEqual(parts, {
    names: [
      "drift.json",
      "comparison.json",
      "graph.json",
      "model/lenet5.onnx",
      "inputs.safetensors",
      "traces/0.safetensors",
      "traces/1.safetensors",
    ],
    format: "driftscope-run-1",
    model: true,
    inputs: ["input"],
    targets: ["pc/strict", "pc/fast"],
    comparison: "driftscope-compare-1",
    nodes: 13,
    stored: ["model/lenet5.onnx", "inputs.safetensors", "traces/0.safetensors", "traces/1.safetensors"],
  });
});

test("Verify_OfAKeptComparison_JudgesItsTracesAgain", (t) => {
  const { file } = keep(t);
  const judged = run(["verify", file, "--quiet", "--json", "-"]);
  assert.equal(judged.status, 0, judged.stderr);
  assert.deepEqual(
    JSON.parse(judged.stdout).map(({ target, verdict }) => [target, verdict]),
    [
      ["pc/strict", "rounding"],
      ["pc/fast", "rounding"],
    ],
  );
  // With the model beside it, too.
  assert.equal(run(["verify", lenet5, file, "--quiet", "--json", "-"]).stdout, judged.stdout);
  const other = run(["verify", asset("models", "lenet1.onnx"), file, "--quiet"]);
  assert.equal(other.status, 2);
  assert.match(other.stderr, /another model|SHA-256/);
});

test("Compare_OfAKeptComparisonWithTargets_RunsItsModelOnItsInputs", (t) => {
  const { folder, file, json } = keep(t);
  const out = join(folder, "node.json");
  const again = run(["compare", file, "--right", "pc/fast", "--quiet", "--json", out], { timeout: 300_000 });
  assert.equal(again.status, 0, again.stderr);
  const sums = (text) => JSON.parse(text).right[0].layers.map(({ output, max_abs }) => [output, max_abs]);
  assert.deepEqual(sums(readFileSync(out, "utf8")), sums(json));
});

test("Compare_OfAKeptComparisonWithTargets_CanBeRepeatedByItsCommandAndKeptAgain", (t) => {
  const { folder, file } = keep(t);
  // Elsewhere, with another model of that name and a description of other classes: neither is looked at.
  const elsewhere = join(folder, "elsewhere");
  mkdirSync(elsewhere);
  copyFileSync(asset("models", "lenet1.onnx"), join(elsewhere, "lenet5.onnx"));
  writeFileSync(join(elsewhere, "lenet5.preprocess.json"), "{}");
  const again = (args) =>
    run(["compare", ...args, "--right", "pc/reference", "--quiet", "--times", "0", "--repeat", "1"], {
      cwd: elsewhere,
    });
  const first = again([file, "--save", "second.drift", "--json", "a.json"]);
  assert.equal(first.status, 0, first.stderr);
  assert.equal(again([join(elsewhere, "second.drift"), "--json", "b.json"]).status, 0);
  const [a, b] = ["a.json", "b.json"].map((name) => JSON.parse(readFileSync(join(elsewhere, name), "utf8")));
  assert.match(a.command, /compare \S+run\.drift --left pc\/strict --right pc\/reference/);
  assert.deepEqual(a.class_names, ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"]);
  for (const key of ["model", "model_sha256", "input", "input_label", "class_names"])
    assert.deepEqual(a[key], b[key], key);
  const slow = again([file, "--baseline", join(folder, "none.json")]);
  assert.match(slow.stderr, /there is no baseline/);
});

test("Kept_ChecksOfTheLiveRun_CountWhenItIsShown", (t) => {
  const { folder, json } = keep(t, ["--repeat-check", "3", "--memory-runs", "20"]);
  const shown = run(["compare", join(folder, "run.drift"), "--json", "-"]);
  assert.equal(shown.stdout, json);
  assert.match(JSON.parse(json).gate.fail_on, /unrepeatable.*growing/);
});

test("Save_OfAModelWithExternalDataOfAnyName_KeepsItAll", (t) => {
  const folder = temporaryFolder(t);
  // A zip cannot have "./w.bin" as the name of a member.
  const weights = Buffer.from(new Float32Array([1, 2, 3, 4]).buffer);
  writeFileSync(join(folder, "w.bin"), weights);
  writeFileSync(join(folder, "model.onnx"), modelWithExternalData("./w.bin"));
  const file = join(folder, "run.drift");
  const kept = run(
    ["compare", join(folder, "model.onnx"), "--right", "pc/fast", "--quiet", "--times", "0", "--save", file],
    { cwd: folder },
  );
  assert.equal(kept.status, 0, kept.stderr);
  const judged = run(["verify", file, "--quiet"], { cwd: root });
  assert.equal(judged.status, 0, judged.stderr);
});

test("Kept_WithoutItsModel_ShowsAllAndSaysWhatIsMissing", (t) => {
  const { file, table } = keep(t, ["--without-model"]);
  assert.equal(run(["compare", file]).stdout, table);
  const judged = run(["verify", file]);
  assert.equal(judged.status, 3);
  assert.match(
    judged.stderr,
    /kept without its model \(lenet5\.onnx, SHA-256 [0-9a-f]{12}…\): name the \.onnx file/,
  );
  assert.equal(run(["verify", lenet5, file, "--quiet"]).status, 0);
  const ran = run(["compare", file, "--right", "pc/fast"]);
  assert.equal(ran.status, 3);
});

test("Kept_CutOrOfAnotherVersionOrModel_IsRefusedWithAReason", (t) => {
  const { folder, file } = keep(t);
  const bytes = readFileSync(file);
  const cut = join(folder, "cut.drift");
  writeFileSync(cut, bytes.subarray(0, bytes.length - 1000));
  const flipped = Buffer.from(bytes);
  flipped[bytes.indexOf("traces/1.safetensors") + 5000] ^= 1;
  writeFileSync(join(folder, "flipped.drift"), flipped);
  writeFileSync(join(folder, "empty.drift"), "");
  copyFileSync(lenet5, join(folder, "model.drift"));
  const replace = (name, from, to) =>
    changed(file, join(folder, name), "drift.json", `lambda d: d.replace(b'${from}', b'${to}')`);
  const cases = [
    [cut, /cut: it has no list of members/],
    [join(folder, "flipped.drift"), /'traces\/1\.safetensors' is damaged/],
    [join(folder, "empty.drift"), /not a zip file/],
    [join(folder, "model.drift"), /not a zip file/],
    [
      replace("version.drift", "driftscope-run-1", "driftscope-run-7"),
      /format driftscope-run-7, this program reads/,
    ],
    [replace("foreign.drift", "driftscope-run-1", "something-else"), /"format" is 'something-else'/],
    [replace("missing.drift", "traces/1.", "traces/9."), /member 'traces\/9\.safetensors' is missing/],
    [changed(file, join(folder, "plain.drift"), "drift.json", "drop"), /not a kept comparison/],
    [
      changed(
        file,
        join(folder, "other.drift"),
        "traces/1.safetensors",
        `lambda d: __import__("re").sub(rb'model_sha256":"....', b'model_sha256":"0000', d)`,
      ),
      /trace of another model/,
    ],
  ];
  for (const [path, message] of cases)
    for (const command of [
      ["compare", path],
      ["verify", path],
      ["report", path, "--out", join(folder, "x.html")],
    ]) {
      const refused = run(command);
      assert.equal(refused.status, 2, `${command.join(" ")}: ${refused.stderr}`);
      assert.match(refused.stderr, message, path);
    }
  assert.ok(!readdirSync(folder).includes("x.html"));
});

test("Compare_OfAKeptComparison_RefusesWhatOnlyRunsNeed", (t) => {
  const { file } = keep(t);
  for (const option of [
    ["--input", "seed:1"],
    ["--left", "pc/fast"],
    ["--repeat", "3"],
    ["--memory-runs", "20"],
    ["--save", "x.drift"],
  ]) {
    const refused = run(["compare", file, ...option]);
    assert.equal(refused.status, 2, option[0]);
    assert.ok(refused.stderr.includes(`${option[0]} is for new runs`), refused.stderr);
    assert.match(refused.stderr, /--right/);
  }
  assert.equal(run(["compare", lenet5]).status, 2);
  assert.equal(run(["compare", lenet5, "--right", "pc/fast", "--without-model"]).status, 2);
});

test("Save_WhereNothingCanBeWritten_ShowsTheResultsAndLeavesTheOldFile", (t) => {
  const { folder, file } = keep(t);
  const before = readFileSync(file);
  const json = join(folder, "still.json");
  const gone = run([
    "compare",
    lenet5,
    "--right",
    "pc/fast",
    "--quiet",
    "--json",
    json,
    "--save",
    "/dev/null/run.drift",
  ]);
  assert.equal(gone.status, 2);
  assert.match(gone.stdout, /pc\/fast agrees with pc\/strict/);
  assert.doesNotMatch(gone.stdout, /kept:/);
  assert.equal(JSON.parse(readFileSync(json, "utf8")).right[0].target, "pc/fast");
  const limited = spawnSync(
    "bash",
    [
      "-c",
      `ulimit -f 20; trap '' XFSZ; "$0" compare "${lenet5}" --right pc/fast --quiet --save "${file}"`,
      driftscope,
    ],
    { encoding: "utf8", cwd: root },
  );
  assert.equal(limited.status, 2, limited.stderr);
  assert.ok(readFileSync(file).equals(before));
});
