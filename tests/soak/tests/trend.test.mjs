// The rule for curves: leaks are found, noise and steps are not.
import assert from "node:assert/strict";
import { test } from "node:test";

import { Random } from "../random.mjs";
import { judge } from "../watch/trend.mjs";

const megabyte = 1e6;
const interval = 2; // seconds between samples, as the soak's

/** Samples of `lives` lives of `seconds` each, of `value(t, life)` with noise. */
function samplesOf(
  value,
  { seconds = 900, lives = 1, noise = 0.2 * megabyte, seed = Date.now() % 1e9 } = {},
) {
  const random = new Random(seed, "trend");
  const samples = [];
  for (let life = 0; life < lives; ++life)
    for (let t = 0; t < seconds; t += interval)
      samples.push({
        t: life * seconds + t,
        life,
        value: value(t, life) + noise * (random.between(0, 1) + random.between(0, 1) - 1),
      });
  return { samples, seed };
}

const cases = [
  ["NoiseAlone_IsFlat", () => 300 * megabyte, {}, "flat"],
  ["ALeak_Grows", (t) => 300 * megabyte + 0.05 * megabyte * t, {}, "grows"],
  [
    "ALeakInEveryLife_Grows",
    (t) => 300 * megabyte + 0.05 * megabyte * t,
    { lives: 4, seconds: 400 },
    "grows",
  ],
  ["AHigherLevelAfterEachStart_DoesNotGrow", (_, life) => (300 + 20 * life) * megabyte, { lives: 4 }, "flat"],
  ["WarmUp_DoesNotGrow", (t) => (300 + 40 * Math.min(1, t / 100)) * megabyte, {}, "flat"],
  ["OneStep_DoesNotGrow", (t) => (t < 560 ? 300 : 330) * megabyte, {}, "unclear"],
];
for (const [name, value, options, verdict] of cases)
  test(`Trend_${name}`, () => {
    const { samples, seed } = samplesOf(value, options);
    const found = judge(samples, "bytes");
    assert.equal(found.verdict, verdict, `seed ${seed}: ${JSON.stringify(found)}`);
  });

test("Trend_LivesTooShort_AreUnclear", () => {
  const { samples } = samplesOf((t) => 300 * megabyte + megabyte * t, { lives: 5, seconds: 60 });
  assert.match(judge(samples, "bytes").why, /too short/);
});

test("Trend_ADescriptorLostEveryMinute_Grows", () => {
  const { samples } = samplesOf((t) => 40 + Math.floor(t / 60), { noise: 0 });
  assert.equal(judge(samples, "count").verdict, "grows");
});
