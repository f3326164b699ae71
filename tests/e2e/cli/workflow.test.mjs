// The workflow in docs/ci, as far as it runs here: its literal commands, with the PC's engines
// in place of browsers. And the file tree from which the image is made.
import assert from "node:assert/strict";
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { test } from "node:test";
import { asset, builtFile, driftscope, root, run, temporaryFolder } from "../support.mjs";

const workflow = readFileSync(join(root, "docs", "ci", "driftscope.yml"), "utf8");

// The scripts of `run:` keys, in order: one line, or the lines below `run: |` that are indented more.
function scripts(text) {
  const found = [];
  const lines = text.split("\n");
  for (let i = 0; i < lines.length; ++i) {
    const match = /^(\s*)run: (.*)$/.exec(lines[i]);
    if (!match) continue;
    if (match[2] !== "|") {
      found.push(match[2]);
      continue;
    }
    const block = [];
    while (
      i + 1 < lines.length &&
      (lines[i + 1].trim() === "" || lines[i + 1].search(/\S/) > match[1].length)
    )
      block.push(lines[++i].trim());
    found.push(block.join("\n"));
  }
  return found;
}

const onThisPc = (script) =>
  script.replaceAll("chrome/fast,firefox/fast,safari/fast", "pc/fast,pc/reference");

function repository(t) {
  const folder = temporaryFolder(t);
  cpSync(asset("models", "lenet5.onnx"), join(folder, "model.onnx"));
  const saved = run(
    ["baseline", "save", "model.onnx", "--targets", "pc/strict,pc/fast", "--no-times", "--quiet"],
    { cwd: folder },
  );
  assert.equal(saved.status, 0, saved.stderr);
  assert.ok(existsSync(join(folder, "model.baseline.json")));
  return folder;
}

const shell = (folder, script, summary) =>
  run(["-e", "-c", script], {
    program: "/bin/sh",
    cwd: folder,
    env: {
      PATH: dirname(driftscope) + delimiter + process.env.PATH,
      GITHUB_ACTIONS: "true",
      GITHUB_STEP_SUMMARY: summary,
    },
  });

test("Workflow_ItsCommands_PassAndLeaveTheFilesThatAreKept", (t) => {
  const folder = repository(t);
  const summary = join(folder, "summary.md");
  const commands = scripts(workflow);
  assert.equal(commands.length, 3);
  assert.ok(commands.slice(1).every((script) => onThisPc(script).includes("driftscope ")));
  for (const script of commands) {
    const { status, stdout, stderr } = shell(folder, onThisPc(script), summary);
    assert.equal(status, 0, `${script}\n${stdout}${stderr}`);
    assert.doesNotMatch(stdout, /^::error/m);
  }
  const kept = /path: \|\n((?: {12}\S+\n)+)/.exec(workflow)[1].trim().split(/\s+/);
  assert.equal(kept.length, 4);
  for (const file of kept) assert.ok(existsSync(join(folder, file)), file);
  assert.equal(readFileSync(summary, "utf8").match(/^### ✅/gm).length, 2);
});

test("Workflow_AModelThatChanged_FailsWithAnAnnotation", (t) => {
  const folder = repository(t);
  const file = join(folder, "model.baseline.json");
  const baseline = JSON.parse(readFileSync(file, "utf8"));
  baseline.targets[1].top1[0] = (baseline.targets[1].top1[0] + 1) % 10;
  writeFileSync(file, JSON.stringify(baseline));
  const { status, stdout } = shell(folder, onThisPc(scripts(workflow)[2]), join(folder, "summary.md"));
  assert.equal(status, 1);
  assert.match(stdout, /^::error file=model\.onnx,title=pc\/fast%3A top-1::best class/m);
});

// What the package's own tests cover (tests/web/package): npx itself, which needs a registry.
function withNpx(t, env) {
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, "npx"), `#!/bin/sh\n[ "$1" = --yes ] && shift 2\nexec ${driftscope} "$@"\n`, {
    mode: 0o755,
  });
  return { ...env, PATH: folder + delimiter + process.env.PATH, GITHUB_ACTIONS: "" };
}

test("Action_ItsScript_WritesWhatItsOutputsName", (t) => {
  const folder = repository(t);
  const action = readFileSync(join(root, "action.yml"), "utf8");
  const [script] = scripts(action);
  assert.doesNotMatch(script, /\$\{\{/); // inputs are no code
  const outputs = join(folder, "outputs");
  const env = withNpx(t, {
    ...{ MODEL: "model.onnx", LEFT: "pc/strict", RIGHT: "pc/fast", FAIL_ON: "fault,top1", INPUT: "seed:42" },
    ...{
      PACKAGE: "driftscope@0.2.0",
      FOLDER: "results of it",
      ARGUMENTS: "--times\n0.1\n",
      GITHUB_OUTPUT: outputs,
    },
  });
  const run_it = (more) =>
    run(["-e", "-c", script], { program: "/bin/bash", cwd: folder, env: { ...env, ...more } });
  const passed = run_it();
  assert.equal(passed.status, 0, passed.stdout + passed.stderr);
  const named = readFileSync(outputs, "utf8")
    .trim()
    .split("\n")
    .map((line) => line.split("="));
  assert.deepEqual(
    named.map(([name]) => name),
    [...action.matchAll(/steps\.compare\.outputs\.(\w+)/g)].map((match) => match[1]),
  );
  for (const [, file] of named) assert.ok(existsSync(join(folder, file)), file);
  const sarif = JSON.parse(readFileSync(join(folder, "results of it", "driftscope.sarif"), "utf8"));
  assert.deepEqual(sarif.runs[0].results, []);
  assert.match(
    readFileSync(join(folder, "results of it", "summary.md"), "utf8"),
    /^### ✅ Driftscope: model\.onnx/,
  );
  const failed = run_it({ FAIL_ON: "bits" });
  assert.equal(failed.status, 1, failed.stdout + failed.stderr);
  const [result] = JSON.parse(readFileSync(join(folder, "results of it", "driftscope.sarif"), "utf8")).runs[0]
    .results;
  assert.equal(result.ruleId, "bits");
  assert.equal(result.locations[0].physicalLocation.artifactLocation.uri, "model.onnx");
  assert.match(readFileSync(join(folder, "results of it", "summary.md"), "utf8"), /^### ❌/);
});

test("GitLab_ItsScript_WritesWhatItsArtifactsName", (t) => {
  const folder = repository(t);
  const template = readFileSync(join(root, "docs", "ci", "driftscope.gitlab-ci.yml"), "utf8");
  const command = /- >-\n((?: {6}.*\n)+)/
    .exec(template)[1]
    .replaceAll(/\n? {6}/g, " ")
    .trim();
  const env = withNpx(t, {
    ...{ DRIFTSCOPE_VERSION: "0.2.0", DRIFTSCOPE_MODEL: "model.onnx", DRIFTSCOPE_LEFT: "pc/strict" },
    ...{ DRIFTSCOPE_RIGHT: "pc/fast", DRIFTSCOPE_FAIL_ON: "fault,top1", DRIFTSCOPE_INPUT: "seed:42" },
  });
  const { status, stdout, stderr } = run(["-e", "-c", command], { program: "/bin/sh", cwd: folder, env });
  assert.equal(status, 0, stdout + stderr);
  const kept = /paths: \[(.*)\]/
    .exec(template)[1]
    .split(", ")
    .concat(/junit: (\S+)/.exec(template)[1]);
  assert.equal(kept.length, 4);
  for (const file of kept) assert.ok(existsSync(join(folder, file)), file);
});

test("Image_StagedTree_RunsFromWhereverItLies", (t) => {
  // The smallest page that counts as built: a real one takes minutes, and staging does not look into it.
  const folder = temporaryFolder(t);
  const site = join(folder, "site");
  mkdirSync(join(site, "engine"), { recursive: true });
  writeFileSync(join(site, "index.html"), "");
  const clone = join(folder, "clone");
  for (const part of ["tools", "web"]) {
    mkdirSync(join(clone, part), { recursive: true });
  }
  cpSync(join(root, "tools", "image"), join(clone, "tools", "image"), { recursive: true });
  cpSync(join(root, "tools", "setup.d"), join(clone, "tools", "setup.d"), { recursive: true });
  cpSync(join(root, "web", "npm"), join(clone, "web", "npm"), { recursive: true });
  mkdirSync(join(clone, "build"));
  symlinkSync(builtFile("native"), join(clone, "build", "native"));
  const stage = join(folder, "stage");
  const stageIt = () =>
    run([stage], { program: join(clone, "tools", "image", "stage"), env: { DRIFTSCOPE_SITE: site } });
  const staged = stageIt();
  assert.equal(staged.status, 0, staged.stderr);
  const packages = readFileSync(join(stage, "packages"), "utf8").trim().split("\n");
  for (const name of ["chromium", "firefox-esr", "libstdc++6"]) assert.ok(packages.includes(name), name);
  assert.ok(
    packages.every((name) => /^[a-z0-9][a-z0-9+.-]+$/.test(name)),
    packages.join(" "),
  );
  const program = join(stage, "bin", "driftscope");
  const compared = run(["compare", asset("models", "lenet5.onnx"), "--right", "pc/fast", "--quiet"], {
    program,
    env: { LD_LIBRARY_PATH: join(stage, "lib") },
  });
  assert.equal(compared.status, 0, compared.stderr);
  const doctor = run(["doctor", "--json", "-"], {
    program,
    env: { DRIFTSCOPE_SITE: "", LD_LIBRARY_PATH: join(stage, "lib") },
  });
  const page = JSON.parse(doctor.stdout).findings.find(({ what }) => what === "page");
  assert.equal(page.detail, join(stage, "share", "driftscope", "site"));
  assert.equal(stageIt().status, 1); // it does not overwrite
});
