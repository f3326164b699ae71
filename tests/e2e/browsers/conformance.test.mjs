// The conformance cases in the browsers: all of them in Chromium and Firefox; in WebKitGTK, where they
// take half a minute, a part, chosen by DRIFTSCOPE_SEED. DRIFTSCOPE_CASES=150, or =all, sets the number.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { run, temporaryFolder } from "../support.mjs";

const seed = process.env.DRIFTSCOPE_SEED ?? String(Math.floor(Math.random() * 1e6));

for (const browser of ["chrome", "firefox", "safari"])
  test(`Conformance_${browser}_PassesWithTheBitsOfThePc`, (t) => {
    const cases = process.env.DRIFTSCOPE_CASES ?? (browser === "safari" ? "300" : "all");
    const part = cases === "all" ? null : cases;
    const json = join(temporaryFolder(t), "conformance.json");
    const sample = part ? ["--sample", part, "--seed", seed] : [];
    t.diagnostic(part ? `${part} cases, seed ${seed}` : "all cases");
    const { status, stdout, stderr } = run(
      ["conformance", "--targets", `pc/strict,${browser}/strict`, ...sample, "--json", json],
      { timeout: 600_000 },
    );
    assert.equal(status, 0, stdout + stderr);
    const [pc, page] = JSON.parse(readFileSync(json, "utf8")).targets;
    assert.equal(page.target, `${browser}/strict`);
    assert.ok(page.passed > (part ? 0 : 980));
    assert.equal(page.passed, pc.passed);
    assert.equal(page.same_bits.same, page.same_bits.compared);
    assert.equal(page.same_bits.compared, pc.passed);
    t.diagnostic(
      `${page.passed} passed, ${page.not_supported} not supported, ${page.same_bits.same} with the same bits`,
    );
  });
