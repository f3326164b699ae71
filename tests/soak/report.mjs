// What a soak writes at its end.
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { picture, valueText } from "./watch/picture.mjs";
import { kinds } from "./watch/trend.mjs";

const rule = `Rule: the slope is the median over all pairs of samples from one life of the process, each life
without its first quarter (Theil and Sen), its interval Kendall's at 99 %. A curve grows where the interval
lies above 0, both halves rise, and the rise over the longest life is beyond the noise (the floor of its kind,
1 % of its level, 4 times the median distance from the line). It is flat where the interval ends below what
matters in an hour:
${Object.entries(kinds)
  .map(
    ([name, { unit, floor, perHour }]) =>
      `  ${name}: ${valueText(perHour, unit)} per hour, floor ${valueText(floor, unit)}`,
  )
  .join("\n")}
Otherwise it is unclear: growth is not shown, but not excluded either.
`;

function verdictLine({ name, kind, samples, judged }) {
  const { unit } = kinds[kind];
  const text = (value) => valueText(value, unit);
  const slope =
    judged.perHour === undefined
      ? judged.why
      : `${text(judged.perHour)} per hour (${text(judged.low)} to ${text(judged.high)})`;
  return (
    `${judged.verdict.padEnd(8)} ${name.padEnd(26)} ${text(judged.first)} → ${text(judged.last)}, ` +
    `at most ${text(judged.highest)}; ${slope}; ${samples.length} samples, ${judged.lives} lives`
  );
}

/** Numbers of runs and faults, as lines. */
export function countsText(soak) {
  const subjects = [...soak.subjects.values()].map(
    ({ name, runs, life, disturbed, failures }) =>
      `${name}: ${runs} runs, ${life} starts, ${disturbed} runs that a fault ended, ${failures} failures`,
  );
  const byName = new Map();
  for (const { name } of soak.faults) byName.set(name, (byName.get(name) ?? 0) + 1);
  const faults = [...byName].sort().map(([name, count]) => `${name} ×${count}`);
  const struck = faults.length > 0 ? `: ${faults.join(", ")}` : "";
  return `${subjects.join("\n")}\n${soak.faults.length} faults${struck}`;
}

function findingText({ t, subject, what, during, lastFault }) {
  const faults = during.join(", ");
  const near = faults || (lastFault ? `after ${lastFault.name}` : "");
  return `${t.toFixed(0)} s  ${subject}: ${what}${near && ` (${near})`}`;
}

/** Writes verdicts.txt, curves.svg and findings.json; resolves to the text for the terminal. */
export function report(soak, curves) {
  for (const { name, judged } of curves)
    if (judged.verdict === "grows") soak.find("curves", `${name} grows`, JSON.stringify(judged));
  const { seed, chaos } = soak.options;
  const title = `${(soak.now / 60).toFixed(1)} minutes ${chaos ? "with" : "without"} chaos, seed ${seed}`;
  const verdicts = curves.map(verdictLine).join("\n");
  const found = soak.findings.map(findingText).join("\n") || "nothing abnormal";
  const text = `${title}\n\n${countsText(soak)}\n\n${verdicts}\n\n${found}\n`;
  writeFileSync(join(soak.out, "verdicts.txt"), `${text}\n${rule}`);
  writeFileSync(join(soak.out, "findings.json"), JSON.stringify(soak.findings, null, 1) + "\n");
  writeFileSync(join(soak.out, "curves.svg"), picture(curves, soak.now, soak.faults, title));
  return text;
}
