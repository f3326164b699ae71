// Whether a curve grows: the rule of core/bench/memory_growth, for samples over time that may start over
// when a process is started again. Pure functions.
//
// Each life of the process gives its samples behind its warm-up (a quarter of them); the slope is the
// median of the slopes of all pairs from the same life (Theil 1950, Sen 1968), its interval at 99 %
// Kendall's. The curve grows where the interval lies above 0, the first halves of the lives rise as well as
// the second ones (by a quarter of the slope at least: one step, as of a cache that is filled, is not a
// leak), and the rise over the longest life is beyond the noise: `floor` of its kind, 1 % of the level, four
// times the median distance from the line. It is flat where the whole interval, over an hour, stays below
// what matters (`perHour`).

const confidence99 = 2.576;
const fewest = 12; // samples of a life behind its warm-up
const shortest = 90; // seconds of it: caches fill meanwhile
const maxPerLife = 160; // pairs grow with the square

export const kinds = {
  // Chromium lets tens of megabytes of garbage come together before it frees them.
  collected: { unit: "bytes", floor: 64e6, perHour: 16e6 },
  bytes: { unit: "bytes", floor: 8e6, perHour: 2e6 },
  exact: { unit: "bytes", floor: 256e3, perHour: 64e3 },
  count: { unit: "", floor: 3, perHour: 1 },
};

export function median(values) {
  if (values.length === 0) return NaN;
  const sorted = Float64Array.from(values).sort();
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** At most `maxPerLife` samples: medians of neighbours. */
function thinned(samples) {
  const each = Math.ceil(samples.length / maxPerLife);
  if (each === 1) return samples;
  const result = [];
  for (let i = 0; i + each <= samples.length; i += each) {
    const group = samples.slice(i, i + each);
    result.push({ t: median(group.map(({ t }) => t)), value: median(group.map(({ value }) => value)) });
  }
  return result;
}

/** {value, low, high} per second from pairs within each life; nothing below two samples. */
export function slope(lives) {
  const slopes = [];
  let variance = 0;
  for (const life of lives) {
    const n = life.length;
    for (let i = 0; i < n; ++i)
      for (let j = i + 1; j < n; ++j)
        if (life[j].t > life[i].t) slopes.push((life[j].value - life[i].value) / (life[j].t - life[i].t));
    variance += (n * (n - 1) * (2 * n + 5)) / 18;
  }
  if (slopes.length === 0) return null;
  const sorted = Float64Array.from(slopes).sort();
  const reach = confidence99 * Math.sqrt(variance);
  const at = (place) => sorted[Math.min(sorted.length - 1, Math.max(0, Math.round(place)))];
  return {
    value: median(sorted),
    low: at((sorted.length - reach) / 2),
    high: at((sorted.length + reach) / 2),
  };
}

/**
 * `samples` = [{t, life, value}] in the order of time, t in seconds; `kind` one of `kinds`. Returns {verdict:
 * "flat" | "unclear" | "grows", perHour, low, high, first, last, lives}.
 */
export function judge(samples, kind) {
  const { floor, perHour } = kinds[kind];
  const byLife = new Map();
  for (const sample of samples) {
    if (!byLife.has(sample.life)) byLife.set(sample.life, []);
    byLife.get(sample.life).push(sample);
  }
  const settled = [...byLife.values()].map((life) => life.slice(Math.floor(life.length / 4)));
  const long = settled.filter((life) => life.length >= fewest && life.at(-1).t - life[0].t >= shortest);
  const values = settled.flat().map(({ value }) => value);
  const common = {
    first: median(samples.slice(0, 5).map(({ value }) => value)),
    last: median(samples.slice(-5).map(({ value }) => value)),
    highest: values.reduce((a, b) => Math.max(a, b), -Infinity),
    lives: byLife.size,
  };
  const lives = long.map(thinned);
  const found = slope(lives);
  if (!found) return { verdict: "unclear", why: "every life was too short", ...common };
  const estimate = { perHour: 3600 * found.value, low: 3600 * found.low, high: 3600 * found.high, ...common };
  if (estimate.high <= perHour) return { verdict: "flat", ...estimate };
  const spans = lives.map((life) => life.at(-1).t - life[0].t);
  const rise = found.value * Math.max(...spans);
  const rest = lives.flatMap((life) => {
    const level = median(life.map(({ t, value }) => value - found.value * t));
    return life.map(({ t, value }) => Math.abs(value - found.value * t - level));
  });
  const noise = Math.max(floor, 0.01 * median(values), 4 * median(rest));
  const half = (which) =>
    lives.map((life) =>
      which === 0 ? life.slice(0, life.length >> 1) : life.slice(life.length - (life.length >> 1)),
    );
  const rises = [0, 1].every((which) => (slope(half(which))?.value ?? 0) >= 0.25 * found.value);
  const grows = found.low > 0 && rise > noise && rises;
  return { verdict: grows ? "grows" : "unclear", ...estimate };
}
