// The conformance cases on the GPU engines of each browser, and with them its compilers of WGSL and GLSL.
// A part, chosen by DRIFTSCOPE_SEED; DRIFTSCOPE_CASES=500, or =all, sets the number.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { run, temporaryFolder } from "../support.mjs";

const seed = process.env.DRIFTSCOPE_SEED ?? String(Math.floor(Math.random() * 1e6));
const cases = process.env.DRIFTSCOPE_CASES ?? "120";

const targets = {
  chrome: "chrome/webgpu,chrome/webgl",
  firefox: "firefox/webgpu,firefox/webgl",
  safari: "safari/webgl",
  pc: "pc/webgpu,pc/webgl",
};

for (const [host, both] of Object.entries(targets))
  test(`Conformance_GpuEnginesOf_${host}_Pass`, (t) => {
    const json = join(temporaryFolder(t), "conformance.json");
    const sample = cases === "all" ? [] : ["--sample", cases, "--seed", seed];
    t.diagnostic(cases === "all" ? "all cases" : `${cases} cases, seed ${seed}`);
    const { status, stdout, stderr } = run(["conformance", "--targets", both, ...sample, "--json", json], {
      timeout: 600_000,
    });
    assert.equal(status, 0, stdout + stderr);
    for (const { target, passed, failed } of JSON.parse(readFileSync(json, "utf8")).targets) {
      assert.equal(failed, 0, target);
      assert.ok(passed > (cases === "all" ? 980 : 0), target);
    }
  });
