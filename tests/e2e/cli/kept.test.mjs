// A comparison that is kept as one file, and everything that opens it.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
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
  const { folder, file } = keep(t);
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
  assert.ok(folder);
});

test("Compare_OfAKeptComparisonWithTargets_RunsItsModelOnItsInputs", (t) => {
  const { folder, file, json } = keep(t);
  const out = join(folder, "node.json");
  const again = run(["compare", file, "--right", "pc/fast", "--quiet", "--json", out], { timeout: 300_000 });
  assert.equal(again.status, 0, again.stderr);
  const sums = (text) => JSON.parse(text).right[0].layers.map(({ output, max_abs }) => [output, max_abs]);
  assert.deepEqual(sums(readFileSync(out, "utf8")), sums(json));
});

test("Kept_WithoutItsModel_ShowsAllAndSaysWhatIsMissing", (t) => {
  const { folder, file, table } = keep(t, ["--without-model"]);
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
  assert.ok(statSync(file).size > 0 && folder);
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
  const refused = run(["compare", file, "--input", "seed:1"]);
  assert.equal(refused.status, 2);
  assert.match(refused.stderr, /--input is for new runs.*--right/);
  assert.equal(run(["compare", lenet5]).status, 2);
  assert.equal(run(["compare", lenet5, "--right", "pc/fast", "--without-model"]).status, 2);
});

test("Save_WhereNothingCanBeWritten_LeavesTheOldFile", (t) => {
  const { file } = keep(t);
  const before = readFileSync(file);
  const full = run(["compare", lenet5, "--right", "pc/fast", "--quiet", "--save", "/dev/full/run.drift"]);
  assert.equal(full.status, 2);
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
