// The curves as one SVG: a chart for each, the lives of a process apart, faults as marks below.
import { kinds } from "./trend.mjs";

const width = 520;
const height = 150;
const columns = 3;
const margin = { left: 64, right: 12, top: 34, bottom: 26 };
const colours = { flat: "#1f7a5c", unclear: "#7a6a1f", grows: "#b3261e" };

const escape = (text) => String(text).replace(/[&<>"]/g, (c) => `&#${c.codePointAt(0)};`);

export function valueText(value, unit) {
  if (!Number.isFinite(value)) return "–";
  if (unit !== "bytes")
    return Math.abs(value) >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(3)));
  const size = Math.abs(value);
  if (size < 1e3) return `${value.toFixed(0)} B`;
  if (size < 1e6) return `${(value / 1e3).toPrecision(3)} kB`;
  return size < 1e9 ? `${(value / 1e6).toPrecision(3)} MB` : `${(value / 1e9).toPrecision(3)} GB`;
}

const timeText = (seconds) =>
  seconds >= 5400 ? `${(seconds / 3600).toFixed(1)} h` : `${(seconds / 60).toFixed(1)} min`;

/** `curve` = {name, kind, samples: [{t, life, value}], judged}; `end` in seconds. */
function chart(curve, end, faults) {
  const { unit } = kinds[curve.kind];
  const values = curve.samples.map(({ value }) => value);
  const top = Math.max(...values, 0) * 1.08 || 1;
  const x = (t) => margin.left + (t / end) * (width - margin.left - margin.right);
  const y = (value) => height - margin.bottom - (value / top) * (height - margin.top - margin.bottom);
  const colour = colours[curve.judged.verdict];
  const lines = [];
  let life;
  for (const sample of curve.samples) {
    if (sample.life !== life) lines.push([]);
    life = sample.life;
    lines.at(-1).push(`${x(sample.t).toFixed(1)},${y(sample.value).toFixed(1)}`);
  }
  const grid = [0, top / 2, top]
    .map(
      (value) =>
        `<path d="M${margin.left} ${y(value).toFixed(1)}H${width - margin.right}" stroke="#0002"/>` +
        `<text x="${margin.left - 6}" y="${(y(value) + 4).toFixed(1)}" text-anchor="end">` +
        `${escape(valueText(value, unit))}</text>`,
    )
    .join("");
  const marks = faults
    .map(({ t }) => `<path d="M${x(t).toFixed(1)} ${height - margin.bottom + 2}v5" stroke="#b3261e88"/>`)
    .join("");
  const { perHour, verdict } = curve.judged;
  const slopeText = perHour === undefined ? "" : `, ${valueText(perHour, unit)} per hour`;
  return (
    `<text x="${margin.left}" y="16" class="name">${escape(curve.name)}</text>` +
    `<text x="${width - margin.right}" y="16" text-anchor="end" fill="${colour}">${verdict}` +
    `${escape(slopeText)}</text>${grid}${marks}` +
    lines
      .map((points) => `<polyline points="${points.join(" ")}" fill="none" stroke="${colour}"/>`)
      .join("") +
    `<text x="${margin.left}" y="${height - 6}">0</text>` +
    `<text x="${width - margin.right}" y="${height - 6}" text-anchor="end">${timeText(end)}</text>`
  );
}

export function picture(curves, end, faults, title) {
  const rows = Math.ceil(curves.length / columns);
  const total = { width: columns * width, height: 40 + rows * height };
  const charts = curves.map((curve, i) => {
    const place = `${(i % columns) * width} ${40 + Math.floor(i / columns) * height}`;
    return `<g transform="translate(${place})">${chart(curve, end, faults)}</g>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${total.width} ${total.height}"
 width="${total.width}" height="${total.height}" font-family="sans-serif" font-size="11">
<style>.name { font-size: 13px; font-weight: bold }</style>
<rect width="100%" height="100%" fill="#fff"/>
<text x="${margin.left}" y="26" font-size="16">${escape(title)}</text>
${charts.join("\n")}
</svg>
`;
}
