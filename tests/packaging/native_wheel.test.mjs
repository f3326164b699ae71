// The wheel with the native program, unpacked as pip does it: what it needs of the system, and that it runs.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";

import { asset, driftscope, root, traceDigests, temporaryFolder } from "../e2e/support.mjs";

const python = "/usr/bin/python3";
const most_bytes = 90e6; // the index of packages takes 100 MB

let folder;
let wheel;
let site;
before(() => {
  folder = temporaryFolder({ after: (end) => process.on("exit", end) });
  execFileSync(join(root, "tools", "wheel"), ["--native", folder], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  [wheel] = readdirSync(folder);
  site = join(folder, "site-packages");
  execFileSync(python, ["-m", "zipfile", "-e", join(folder, wheel), site]);
  chmodSync(join(site, "driftscope", "bin", "driftscope"), 0o755); // zipfile restores no modes
});

/** Nothing of the clone is found: the program has what lies beside it. */
const inside = (command, ...args) =>
  spawnSync(command, args, {
    cwd: folder,
    encoding: "utf8",
    timeout: 120_000,
    env: { HOME: folder, PATH: "/nowhere", PYTHONPATH: site, NO_COLOR: "1" },
  });
const installed = (...args) => inside(join(site, "driftscope", "bin", "driftscope"), ...args);

test("NativeWheel_NamesTheOldestGlibc_AndIsSmallEnough", () => {
  assert.match(wheel, /^driftscope-\d+\.\d+\.\d+-py3-none-manylinux_2_28_x86_64\.whl$/);
  assert.ok(statSync(join(folder, wheel)).size < most_bytes);
});

test("NativeWheel_EveryFile_NeedsNoNewerGlibc", () => {
  const files = readdirSync(site, { recursive: true })
    .map((name) => join(site, name))
    .filter((name) => /\.so(\.|$)|\/bin\/driftscope$/.test(name) && statSync(name).isFile());
  assert.ok(files.length >= 5, files.join(" "));
  for (const file of files) {
    const symbols = execFileSync("objdump", ["-T", file], { encoding: "utf8", maxBuffer: 1 << 28 });
    const newest = Math.max(...[...symbols.matchAll(/GLIBC_2\.(\d+)/g)].map(([, minor]) => Number(minor)));
    assert.ok(newest <= 28, `${file} needs glibc 2.${newest}`);
  }
});

test("NativeWheel_Run_HasTheBitsOfTheBuild", () => {
  for (const engine of ["strict", "fast"]) {
    const model = asset("models", "resnet20.onnx");
    const [here, there] = [join(folder, "here.safetensors"), join(folder, "there.safetensors")];
    const options = ["--input", "seed:5", "--target", `pc/${engine}`, "--quiet", "--trace"];
    const ran = installed("run", model, ...options, here);
    assert.equal(ran.status, 0, ran.stderr);
    execFileSync(driftscope, ["run", model, ...options, there]);
    assert.deepEqual(traceDigests(here), traceDigests(there));
  }
});

test("NativeWheel_HasOnnxRuntimeDawnAndThePage", () => {
  const { stdout } = installed("doctor");
  for (const line of [
    /^yes +pc\/ort /m,
    /^yes +pc\/webgpu /m,
    /^yes +page +.*site-packages\/driftscope\/share/m,
  ])
    assert.match(stdout, line);
  for (const file of ["ort/ort-wasm-simd-threaded.wasm", "tfjs/tf-core.min.js", "assets/models/lenet5.onnx"])
    assert.ok(statSync(join(site, "driftscope", "share", "driftscope", "site", file)).size > 0);
});

test("NativeWheel_InPython_ComparesOnThePc", () => {
  const script = `import driftscope, sys
table = driftscope.compare(sys.argv[1], right=["pc/fast", "pc/ort"], seed=7)
print(table.left["target"], sorted(table.verdicts.items()))`;
  const compared = inside(python, "-B", "-c", script, asset("models", "lenet5.onnx"));
  assert.equal(compared.status, 0, compared.stderr);
  assert.match(compared.stdout, /^pc\/strict \[\('pc\/fast', 'rounding'\), \('pc\/ort', 'rounding'\)\]/);
});

// An exception passes functions by tables that are found through what glibc_2_28.c has.
test("NativeWheel_Errors_AreReported", () => {
  const { status, stderr } = installed("run", join(folder, wheel));
  assert.equal(status, 2, stderr);
  assert.match(stderr, /driftscope: .*onnx/i);
});
