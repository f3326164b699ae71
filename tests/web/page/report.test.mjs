// The HTML report in a browser: its policy shows all that it has, and lets nothing in it run. In Chromium.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";

import { asset, run, temporaryFolder } from "../../e2e/support.mjs";
import { closeBrowser, openPage } from "./support.mjs";

after(closeBrowser);

const images = asset("data", "digits-test-images.idx3-ubyte");
const labels = asset("data", "digits-test-labels.idx1-ubyte");

function reportIn(folder) {
  const report = join(folder, "report.html");
  const right = ["--right", "pc/reference,pc/fast", "--repeat", "3"];
  const input = ["--input", `idx:${images},${labels}#121`];
  const made = run(["compare", asset("models", "lenet5.onnx"), ...right, ...input, "--report", report]);
  assert.equal(made.status, 0, made.stderr);
  return report;
}

async function open(t, file) {
  const { page, complaints } = await openPage(t);
  await page.addInitScript(() => {
    window.violations = [];
    addEventListener("securitypolicyviolation", (event) => window.violations.push(event.violatedDirective));
  });
  await page.goto(pathToFileURL(file).href);
  return { page, complaints, violations: () => page.evaluate(() => window.violations) };
}

test("the report is shown whole under its policy: style, charts, bars and pictures", async (t) => {
  const { page, complaints, violations } = await open(t, reportIn(temporaryFolder(t)));
  const seen = await page.evaluate(() => {
    const one = (selector) => document.querySelector(selector);
    return {
      chip: getComputedStyle(one(".chip")).borderLeftWidth,
      bars: [...document.querySelectorAll(".bar i")].map(({ clientWidth }) => clientWidth),
      pictures: [...document.images].map(({ naturalWidth }) => naturalWidth),
      chart: one(".chart").getBoundingClientRect().height,
      ramp: getComputedStyle(one(".ramp i")).backgroundImage.slice(0, 15),
      styled: document.querySelectorAll("[style]").length,
    };
  });
  assert.equal(seen.chip, "4px");
  assert.ok(Math.max(...seen.bars) > 5, String(seen.bars));
  assert.ok(seen.pictures.length > 2 && Math.min(...seen.pictures) > 0, String(seen.pictures));
  assert.ok(seen.chart > 50, String(seen.chart));
  assert.equal(seen.ramp, "linear-gradient");
  assert.equal(seen.styled, 0);
  assert.deepEqual(await violations(), []);
  assert.deepEqual(complaints, []);
});

test("markup injected into a report neither runs, loads, nor restyles", async (t) => {
  const asked = [];
  const server = createServer(({ url }, response) => {
    asked.push(url);
    response.end();
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  const elsewhere = `http://127.0.0.1:${server.address().port}`;
  const file = reportIn(temporaryFolder(t));
  const owned = "document.title = 'owned'";
  const markup = [
    `<script>${owned}</script>`,
    `<img src="data:," onerror="${owned}">`,
    `<svg onload="${owned}"></svg>`,
    `<iframe srcdoc="<script>parent.${owned}</script>"></iframe>`,
    `<a id="link" href="javascript:${owned}">here</a>`,
    `<style>main { display: none }</style>`,
    `<img src="${elsewhere}/leak">`,
    `<form id="form" action="${elsewhere}/form"><input name="a"></form>`,
    `<base href="${elsewhere}/">`,
  ].join("");
  writeFileSync(file, readFileSync(file, "utf8").replace('<main id="main">', `<main id="main">${markup}`));
  const { page, violations } = await open(t, file);
  await page.locator("#link").click();
  await page.evaluate(() => document.getElementById("form").requestSubmit());
  await page.waitForTimeout(500);
  assert.notEqual(await page.title(), "owned");
  assert.ok(await page.locator("h1").isVisible());
  assert.deepEqual(asked, []);
  assert.ok(page.url().startsWith("file:"), page.url());
  const directives = new Set(await violations());
  for (const directive of ["script-src-elem", "script-src-attr", "style-src-elem", "img-src", "base-uri"])
    assert.ok(directives.has(directive), `${directive} of ${[...directives]}`);
});
