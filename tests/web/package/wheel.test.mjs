// The wheel as pip unpacks it: the Python package and the program that Node runs.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { asset, root, temporaryFolder } from "../../e2e/support.mjs";

const python = "/usr/bin/python3";

test("Wheel_Unpacked_HasTheProgramAndStartsIt", (t) => {
  const folder = temporaryFolder(t);
  execFileSync(join(root, "tools", "wheel"), [folder], { stdio: ["ignore", "ignore", "inherit"] });
  const [wheel, ...others] = readdirSync(folder);
  assert.match(wheel, /^driftscope-\d+\.\d+\.\d+-py3-none-any\.whl$/);
  assert.equal(others.length, 0);
  const site = join(folder, "site-packages");
  execFileSync(python, ["-m", "zipfile", "-e", join(folder, wheel), site]);
  const info = readdirSync(site).find((name) => name.endsWith(".dist-info"));
  assert.ok(readdirSync(join(site, info)).includes("entry_points.txt"));
  const inside = (...args) =>
    spawnSync(python, ["-B", ...args], {
      cwd: folder,
      encoding: "utf8",
      timeout: 120_000,
      env: { HOME: process.env.HOME, PATH: "/nowhere", DRIFTSCOPE_NODE: process.execPath, PYTHONPATH: site },
    });
  const version = inside("-m", "driftscope", "--version");
  assert.equal(version.status, 0, version.stderr);
  assert.match(version.stdout, /^driftscope \d+\.\d+\.\d+/);
  const compared = inside(
    "-c",
    `import driftscope
table = driftscope.compare(${JSON.stringify(asset("models", "lenet5.onnx"))}, right="node/fast", seed=7)
print(table.left["target"], [side["target"] for side in table.right], table.json["gate"]["passed"])`,
  );
  assert.equal(compared.status, 0, compared.stderr);
  assert.match(compared.stdout, /^node\/strict \['node\/fast'\] True/);
  const exit = inside("-m", "driftscope", "run", "nowhere.onnx");
  assert.equal(exit.status, 2);
});
