// The npm package as a web team gets it: packed, installed into an empty folder, used by Node's own runner.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { asset, driftscope, root, temporaryFolder } from "../../e2e/support.mjs";

const lenet5 = asset("models", "lenet5.onnx");
const source = join(root, "web", "npm");

function installed(t) {
  const folder = temporaryFolder(t);
  const quiet = ["--no-audit", "--no-fund", "--loglevel=error", "--offline", "--cache", join(folder, ".npm")];
  const packed = execFileSync("npm", ["pack", source, ...quiet], { cwd: folder, encoding: "utf8" }).trim();
  const project = join(folder, "project");
  mkdirSync(project);
  writeFileSync(
    join(project, "package.json"),
    JSON.stringify({ name: "a-web-team", type: "module", private: true }),
  );
  execFileSync("npm", ["install", join(folder, packed), ...quiet], { cwd: project });
  return project;
}

const inside = (project, program, args, env = {}) =>
  spawnSync(program, args, {
    cwd: project,
    encoding: "utf8",
    timeout: 120_000,
    env: { ...process.env, NODE_TEST_CONTEXT: undefined, DRIFTSCOPE: driftscope, GITHUB_ACTIONS: "", ...env },
  });

test("Package_FromAnEmptyFolder_PassesAndFailsInNodesTestRunner", (t) => {
  const project = installed(t);
  writeFileSync(
    join(project, "drift.test.mjs"),
    `
    import { test } from 'node:test';
    import { assertPassed, compare } from 'driftscope';
    const model = ${JSON.stringify(lenet5)};
    const check = (name, options) =>
      test(name, async () => assertPassed(await compare({ model, ...options })));
    check('same', { right: 'pc/reference', failOn: ['fault', 'top1'], input: 'seed:5' });
    check('other bits', { right: ['pc/reference', 'pc/strict'], failOn: 'bits' });
  `,
  );
  const { stdout, stderr } = inside(project, process.execPath, ["--test", "--test-reporter=tap"]);
  assert.match(stdout, /^ok 1 - same/m, stdout + stderr);
  assert.match(stdout, /^not ok 2 - other bits/m, stdout);
  assert.match(stdout, /pc\/reference {2}bits: first differs from pc\/strict at/);
});

test("Package_Npx_RunsTheProgramAndHandsItsExitCodeOn", (t) => {
  const project = installed(t);
  const npx = (...args) => inside(project, "npx", ["--no", "--offline", "driftscope", ...args]);
  const version = npx("--version");
  assert.equal(version.status, 0, version.stderr);
  assert.match(version.stdout, /^driftscope \d/);
  assert.equal(npx("compare", "/nowhere.onnx", "--right", "pc/strict").status, 2);
  const bad = npx("compare", lenet5, "--right", "pc/reference", "--fail-on", "bits", "--quiet");
  assert.equal(bad.status, 1, bad.stderr);
});

test("Package_WithoutTheProgram_SaysHowToGetIt", (t) => {
  const project = installed(t);
  const without = { DRIFTSCOPE: "", PATH: `${join(process.execPath, "..")}:/usr/bin:/bin` };
  const { status, stderr } = inside(
    project,
    process.execPath,
    ["node_modules/driftscope/bin.mjs", "doctor"],
    without,
  );
  assert.equal(status, 3, stderr);
  assert.match(stderr, /DRIFTSCOPE/);
});

test("Package_EveryExportIsDeclared_AndEveryFileIsPacked", async () => {
  const declared =
    readFileSync(join(source, "index.d.ts"), "utf8") + readFileSync(join(source, "trace.d.ts"), "utf8");
  for (const name of Object.keys(await import(join(source, "index.mjs"))))
    assert.match(declared, new RegExp(`export (declare )?(function|class|const) ${name}\\b`), name);
  const { files, version } = JSON.parse(readFileSync(join(source, "package.json"), "utf8"));
  for (const file of files) assert.ok(existsSync(join(source, file)), file);
  assert.match(readFileSync(join(root, "CMakeLists.txt"), "utf8"), new RegExp(`VERSION ${version} `));
});

test("Compare_BadOptionsAndBadInput_AreErrorsWithTheProgramsWords", async () => {
  const { compare, verify, DriftscopeError } = await import(join(source, "index.mjs"));
  const program = driftscope;
  await assert.rejects(compare({ right: "pc/strict", program }), /"model" is needed/);
  await assert.rejects(compare({ model: lenet5, program }), /"right" is needed/);
  await assert.rejects(
    compare({ model: "/nowhere.onnx", right: "pc/strict", program }),
    (error) => error instanceof DriftscopeError && error.exitCode === 2 && /nowhere/.test(error.message),
  );
  await assert.rejects(compare({ model: lenet5, right: "pc/strict", failOn: "never", program }), /never/);
  await assert.rejects(verify({ model: lenet5, trace: "/nowhere.safetensors", program }), /nowhere/);
  await assert.rejects(
    compare({ model: lenet5, right: ["pc/strict", "pc/nonsense"], program }),
    /no engine "nonsense"/,
  );
  await assert.rejects(
    compare({ model: lenet5, right: ["pc/strict", "pc/ort:opt=most"], program }),
    /opt=most: expected none, basic/,
  );
  // A target that cannot run is a result, not an exception: the others ran.
  const half = await compare({ model: lenet5, right: ["pc/strict", "file/nowhere.safetensors"], program });
  assert.equal(half.passed, false);
  assert.equal(half.errors.length, 1);
  assert.equal(half.exitCode, 2);
});

test("Compare_AbortSignal_EndsTheProgram", async () => {
  const { compare } = await import(join(source, "index.mjs"));
  const signal = AbortSignal.abort();
  await assert.rejects(compare({ model: lenet5, right: "pc/strict", program: driftscope, signal }), {
    name: "AbortError",
  });
});

test("Trace_EncodedAndDecoded_IsTheSame_AndBadTensorsAreNamed", async () => {
  const { decodeTrace, encodeTrace } = await import(join(source, "trace.mjs"));
  const file = encodeTrace(
    {
      x: { shape: [2, 1], data: new Float32Array([1, -2]) },
      n: { dims: [2], type: "int64", data: new BigInt64Array([3n, -4n]) },
      none: { shape: [0], data: [] },
      half: { shape: [1], dtype: "float16", data: new Uint16Array([0x3c00]) },
    },
    { target: "page/µ" },
  );
  const { metadata, tensors } = decodeTrace(file);
  assert.equal(metadata.target, "page/µ");
  assert.equal(metadata.format, "driftscope-trace-1");
  assert.deepEqual(Object.keys(tensors), ["x", "n", "none", "half"]);
  assert.equal(tensors.half.dtype, "float16");
  assert.deepEqual([...new Float32Array(tensors.x.data.slice().buffer)], [1, -2]);
  assert.throws(() => encodeTrace({ bad: { shape: [3], data: new Float32Array(2) } }), /"bad".*12 bytes.*8/);
  assert.throws(() => encodeTrace({ bad: { shape: [1], dtype: "string", data: ["a"] } }), /"bad".*string/);
  assert.throws(() => encodeTrace({ bad: { data: new Float32Array(2) } }), /"bad".*shape/);
  for (let length = 0; length < file.length; ++length)
    assert.throws(() => decodeTrace(file.subarray(0, length)), RangeError);
});

test("Package_LimitsOfMemoryAndTime_ReachTheProgram", async () => {
  const { compare, verify } = await import(join(source, "index.mjs"));
  const common = { model: lenet5, right: "pc/reference", trace: "none.safetensors", program: driftscope };
  for (const call of [
    (more) => compare({ ...common, trace: undefined, ...more }),
    (more) => verify({ ...common, ...more }),
  ]) {
    await assert.rejects(call({ maxMemory: "12 apples" }), /--max-memory/);
    await assert.rejects(call({ maxTime: -1 }), /--max-time/);
  }
  assert.equal(
    (await compare({ ...common, trace: undefined, maxMemory: 2 ** 30, maxTime: 60 })).passed,
    true,
  );
});

test("Package_Matcher_PassesFailsAndRefuses", (t) => {
  const project = installed(t);
  writeFileSync(
    join(project, "matcher.test.mjs"),
    `
    import assert from 'node:assert/strict';
    import { test } from 'node:test';
    import { matchers } from 'driftscope/matchers';
    const model = ${JSON.stringify(lenet5)};
    test('contract of expect.extend', async () => {
      const same = await matchers.toAgreeWith({ model, target: 'pc/fast' }, 'pc/strict');
      assert.equal(same.pass, true);
      assert.match(same.message(), /expected a difference, but: pc\\/fast agrees/);
      const other = await matchers.toAgreeWith({ model, target: ['pc/fast'], failOn: 'bits' }, 'pc/strict');
      assert.equal(other.pass, false);
      assert.match(other.message(), /pc\\/fast {2}bits: first differs from pc\\/strict at/);
      await assert.rejects(matchers.toAgreeWith({ target: 'a' }, 'b'), /expected { model, target/);
      await assert.rejects(matchers.toAgreeWith({ model, target: 'pc/fast' }), /expected a target such as/);
      const missing = { model: '/no.onnx', target: 'pc/fast' };
      await assert.rejects(matchers.toAgreeWith(missing, 'pc/strict'), /no\\.onnx/);
    });
  `,
  );
  const { stdout, stderr } = inside(project, process.execPath, ["--test", "--test-reporter=tap"]);
  assert.match(stdout, /^ok 1 - contract of expect.extend/m, stdout + stderr);
});
