// The program of the npm package starts browsers, serves them the page, and ends them.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { test } from "node:test";

import { asset, builtFile, environment, mark } from "../../e2e/support.mjs";

const { DRIFTSCOPE_SITE: _, ...clean } = environment;

test("Program_ThreeBrowsers_AgreeWithNode", () => {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [
      builtFile("web", "package", "program", "bin.mjs"),
      ...["compare", asset("models", "lenet5.onnx"), "--input", "seed:42", "--times", "0.2"],
      ...["--right", "chrome/strict,firefox/fast,safari/strict", "--quiet"],
    ],
    { encoding: "utf8", timeout: 300_000, env: clean },
  );
  assert.equal(status, 0, stdout + stderr);
  assert.match(
    stdout,
    /3 targets agree with node\/strict within rounding, 2 of them bit for bit, same answer/,
  );
  assert.deepEqual(
    readdirSync(mark).filter((name) => name.startsWith("driftscope-")),
    [],
  );
});
