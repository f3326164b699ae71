// Observes the page from inside, in a browser without WebDriver (browsers.test.mjs): does what a visitor
// would, and posts the results. The page loads it before everything else.
"use strict";

const complaints = [];
addEventListener(
  "error",
  ({ message, target }) => complaints.push(message ?? `${target.src ?? target.href} did not load`),
  true,
);
addEventListener("unhandledrejection", ({ reason }) => complaints.push(String(reason)));
console.error = (...what) => complaints.push(what.join(" "));

const $ = (id) => document.getElementById(id);
const rows = (table) => $(table)?.querySelectorAll("tbody tr, tbody#layers > tr").length ?? 0;

async function until(condition, what) {
  for (let end = Date.now() + 150_000; !condition();) {
    if (Date.now() > end) throw new Error(`waited in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function look() {
  await until(() => $("start") && !$("start").disabled, "the page");
  $("start").click();
  await until(() => $("status").textContent.startsWith("Done"), "the run");
  const { dataset } = $("screens");
  // The request in the link of the page's address.
  await until(
    () =>
      dataset.targets === "2" &&
      dataset.busy === "false" &&
      dataset.view === "Layers" &&
      dataset.layer === "conv2",
    "the screens",
  );
  return {
    layers: $("layers").children.length,
    compared: rows("screens-table"),
    layer: dataset.layer,
    screensError: dataset.error,
  };
}

addEventListener("load", () =>
  look()
    .catch((error) => ({
      failed: error.message,
      status: $("status")?.textContent,
      screens: { ...$("screens")?.dataset },
    }))
    .then((seen) => {
      const shown = {
        error: $("error").textContent,
        hosting: $("hosting-text").textContent,
        variant: $("variant").textContent,
      };
      return fetch("seen", {
        method: "POST",
        body: JSON.stringify({ ...seen, ...shown, complaints, isolated: self.crossOriginIsolated }),
      });
    }),
);
