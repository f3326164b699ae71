// What the screens show as a plain table: for screen readers, and to be copied. Client: screens.mjs.
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

function number(value) {
  if (value === undefined || value === null) return "–";
  if (value === 0) return "0";
  return value >= 1e-3 && value < 1e6 ? value.toPrecision(3) : value.toExponential(2);
}

/** Verdict of a layer on one target: verify's, or identical where no bit differs from the left one. */
function verdictOf(verified, difference) {
  const verdict = verified?.verdict ?? "missing";
  if (["unjudged", "suspect", "fault"].includes(verdict) || !difference) return verdict;
  return difference.different_elements === 0 && !difference.reason
    ? "identical"
    : verdict === "identical"
      ? "rounding"
      : verdict;
}

const share = (count, samples) => `${count} of ${samples} (${((100 * count) / samples).toFixed(2)} %)`;

/** The data set, where any target has predicted it. */
function datasetRows(datasets) {
  if (!datasets.some(Boolean)) return [];
  const what = { correct: "whole set: as labelled", agree: "whole set: as on the first target" };
  return Object.entries(what).map(([key, title]) => {
    const row = document.createElement("tr");
    const cells = datasets.map((dataset) =>
      cell("td", typeof dataset?.[key] === "number" ? share(dataset[key], dataset.samples) : "–", "number"),
    );
    const name = cell("th", title);
    name.scope = "row";
    for (const wide of [name, ...cells]) wide.colSpan = 2;
    row.append(name, ...cells);
    return row;
  });
}

/** `comparisons`: one per target as verify answered, the left target's first. */
export function showComparison(table, comparisons) {
  const targets = comparisons.map(({ left, right }) => right[0] ?? left);
  const byOutput = (layers) => new Map((layers ?? []).map((layer) => [layer.output, layer]));
  const columns = targets.map((target) => ({
    name: target.target,
    verified: byOutput(target.verify?.layers),
    compared: byOutput(target.layers),
  }));
  const head = document.createElement("tr");
  head.append(cell("th", "Layer"), cell("th", "Operator"));
  for (const { name } of columns) head.append(cell("th", name), cell("th", "max abs", "number"));
  const rows = [...columns[0].verified.values()].map((layer) => {
    const row = document.createElement("tr");
    row.append(cell("td", layer.node), cell("td", layer.op));
    for (const { verified, compared } of columns) {
      const difference = compared.get(layer.output);
      const verdict = verdictOf(verified.get(layer.output), difference);
      row.append(
        cell("td", `${symbols[verdict]} ${verdict}`),
        cell("td", number(difference?.max_abs), "number"),
      );
    }
    return row;
  });
  const body = document.createElement("tbody");
  body.append(...rows);
  const top = document.createElement("thead");
  top.append(head);
  const foot = document.createElement("tfoot");
  foot.append(...datasetRows(targets.map(({ dataset }) => dataset)));
  table.replaceChildren(top, body, foot);
}
