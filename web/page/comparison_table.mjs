// The GUI's contents as a plain table: for screen readers, and for copying. Client: screens.mjs.
// Texts from models are set as text, never as markup.

const symbols = {
  identical: "=",
  rounding: "~",
  unjudged: "○",
  suspect: "?",
  fault: "✗",
  missing: "·",
};

function cell(tag, text, className = "") {
  const made = document.createElement(tag);
  made.textContent = text;
  if (className) made.className = className;
  if (tag === "th") made.scope = "col";
  return made;
}

const number = (value) =>
  value === 0 ? "0" : value >= 1e-3 && value < 1e6 ? value.toPrecision(3) : value.toExponential(2);

/** How values of a metric are written, by its format; others as numbers. */
const formats = {
  count: (value) => value.toFixed(0),
  ulp: (value) => (value < 1e6 ? value.toFixed(0) : number(value)),
  cosine: (value) => value.toFixed(6),
  decibel: (value) => `${value.toFixed(1)} dB`,
};

const metricText = ({ key, format }, layer) =>
  typeof layer?.[key] === "number" ? (formats[format] ?? number)(layer[key]) : "–";

const share = (count, samples) => `${count} of ${samples} (${((100 * count) / samples).toFixed(2)} %)`;

/** A row below the layers: `texts` has one per target, each as wide as the target's columns. */
function footRow(title, texts, columns) {
  const row = document.createElement("tr");
  const cells = texts.map((text) => cell("td", text ?? "–", "number"));
  const name = cell("th", title);
  name.scope = "row";
  name.colSpan = 2;
  for (const wide of cells) wide.colSpan = columns;
  row.append(name, ...cells);
  return row;
}

/** The data set, if any target has predicted it. */
function datasetRows(targets, columns) {
  if (!targets.some(({ dataset }) => dataset)) return [];
  const what = { correct: "whole set: as labelled", agree: "whole set: as on the first target" };
  return Object.entries(what).map(([key, title]) =>
    footRow(
      title,
      targets.map(({ dataset }) =>
        typeof dataset?.[key] === "number" ? share(dataset[key], dataset.samples) : null,
      ),
      columns,
    ),
  );
}

/** What checks found, those that were made. */
const checks = {
  "repeated runs": ({ verify }) => verify?.repeat_check?.text,
  capturing: ({ observer_check: check }) =>
    check && (check.changed ? "changes the outputs" : "changes nothing"),
  memory: ({ memory_runs: memory }) => memory && `${memory.verdict} over ${memory.runs} runs`,
  // Of a device: what may have disturbed the run.
  notes: ({ ran }) => ran?.notes?.join("; "),
};

const checkRows = (targets, columns) =>
  Object.entries(checks)
    .filter(([, textOf]) => targets.some(textOf))
    .map(([title, textOf]) => footRow(title, targets.map(textOf), columns));

/**
 * `comparisons`: one per target as in verify's response, the left target's first. `metrics`: capabilities'.
 */
export function showComparison(table, comparisons, metrics) {
  const targets = comparisons.map(({ left, right }) => right[0] ?? left);
  const shown = metrics.filter(({ source, table: inTables }) => source === "compare" && inTables);
  const byOutput = (layers) => new Map((layers ?? []).map((layer) => [layer.output, layer]));
  const columns = targets.map((target) => ({
    name: target.target,
    verified: byOutput(target.verify?.layers),
    compared: byOutput(target.layers),
  }));
  const head = document.createElement("tr");
  head.append(cell("th", "Layer"), cell("th", "Operator"));
  for (const { name } of columns)
    head.append(
      cell("th", name),
      ...shown.map(({ title, help }) => {
        const made = cell("th", title, "number");
        made.title = help;
        return made;
      }),
    );
  const rows = [...columns[0].verified.values()].map((layer) => {
    const row = document.createElement("tr");
    row.append(cell("td", layer.node), cell("td", layer.op));
    for (const { verified, compared } of columns) {
      const difference = compared.get(layer.output);
      const { verdict } = difference ?? verified.get(layer.output) ?? { verdict: "missing" };
      row.append(
        cell("td", `${symbols[verdict] ?? "·"} ${verdict}`),
        ...shown.map((metric) => cell("td", metricText(metric, difference), "number")),
      );
    }
    return row;
  });
  const body = document.createElement("tbody");
  body.append(...rows);
  const top = document.createElement("thead");
  top.append(head);
  const foot = document.createElement("tfoot");
  foot.append(...datasetRows(targets, 1 + shown.length), ...checkRows(targets, 1 + shown.length));
  table.replaceChildren(top, body, foot);
}
