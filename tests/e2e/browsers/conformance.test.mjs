// Conformance cases in the browsers: a seeded part of them; all with DRIFTSCOPE_ALL_CASES=1.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { run, temporaryFolder } from '../support.mjs';

const everything = Boolean(process.env.DRIFTSCOPE_ALL_CASES);
const seed = process.env.DRIFTSCOPE_SEED ?? String(Math.floor(Math.random() * 1e6));

for (const browser of ['chrome', 'firefox', 'safari'])
  test(`Conformance_${browser}_PassesWithTheBitsOfThePc`, (t) => {
    const json = join(temporaryFolder(t), 'conformance.json');
    const part = everything ? [] : ['--sample', '150', '--seed', seed];
    t.diagnostic(everything ? 'all cases' : `seed ${seed}`);
    const { status, stdout, stderr } = run(['conformance', '--targets', `pc/strict,${browser}/strict`, ...part, '--json', json],
      { timeout: 600_000 });
    assert.equal(status, 0, stdout + stderr);
    const [pc, page] = JSON.parse(readFileSync(json, 'utf8')).targets;
    assert.equal(page.target, `${browser}/strict`);
    assert.ok(page.passed > 50);
    assert.equal(page.passed, pc.passed);
    assert.equal(page.same_bits.same, page.same_bits.compared);
    assert.equal(page.same_bits.compared, pc.passed);
    t.diagnostic(`${page.passed} passed, ${page.not_supported} not supported, ${page.same_bits.same} with the same bits`);
  });
