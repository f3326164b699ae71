// Models that want gigabytes, in every browser: refused there by node and bytes; the next one runs.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import * as hostile from "../hostile_onnx.mjs";
import { asset, run, temporaryFolder } from "../support.mjs";

const greedy = [
  [hostile.zeros([1 << 20, 1 << 8]), /node huge \(ConstantOfShape.*out of memory for 1073741824 bytes/],
  [hostile.expanded(2 ** 28), /node wide \(Expand.*out of memory for 1073741824 bytes/],
  [hostile.doubling(), /node again \(Loop.*node step \(Concat.*out of memory for 268435456 bytes/],
];

for (const host of ["chrome", "firefox", "safari"])
  test(`ModelsThatWantGigabytes_${host}_AreRefusedByNodeAndBytes`, (t) => {
    const file = join(temporaryFolder(t), "hostile.onnx");
    const limited = (model) => run(["run", model, "--target", `${host}/strict`, "--max-memory", "256MB"]);
    for (const [bytes, wanted] of greedy) {
      writeFileSync(file, bytes);
      const { status, stderr } = limited(file);
      assert.equal(status, 2, stderr);
      assert.match(stderr, wanted);
      assert.match(stderr, /tensors may take 268435456 bytes/);
    }
    const next = limited(asset("models", "lenet1.onnx"));
    assert.equal(next.status, 0, next.stderr);
  });
