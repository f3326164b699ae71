// Out of memory inside the browser: the page says so and goes on. In Chromium.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";

import * as hostile from "../../e2e/hostile_onnx.mjs";
import { root, temporaryFolder } from "../../e2e/support.mjs";
import { chain } from "../../e2e/tiny_onnx.mjs";
import { closeBrowser, openServed, status } from "./support.mjs";

after(closeBrowser);

/** The worker with less memory than it requests: at most `pages` of 64 kiB. */
async function limitMemory(page, pages) {
  const worker = readFileSync(`${root}/web/worker/worker.mjs`, "utf8");
  const limit = `
const Memory = WebAssembly.Memory;
WebAssembly.Memory = function (asked) { return new Memory({ ...asked, maximum: ${pages} }); };
`;
  // Imports are hoisted: the engine is loaded later, by import(), so that this runs before it.
  await page.route("**/web/worker/worker.mjs", (route) =>
    route.fulfill({
      body: worker + limit,
      contentType: "text/javascript",
      headers: { "Cross-Origin-Embedder-Policy": "require-corp" },
    }),
  );
}

test("an engine that runs out of memory says how much it had, and the next run works", async (t) => {
  const { page, complaints } = await openServed(t);
  await limitMemory(page, 257); // 16 MiB: the engine starts, but values of 16 MiB do not fit
  const file = join(temporaryFolder(t), "wide.onnx");
  writeFileSync(file, chain("Relu", 2, [1, 1 << 22]));
  await page.locator("#file").setInputFiles(file);
  await page.locator("#seed-note").waitFor();
  await page.locator("#start").click();
  await status(page, "It did not run.");
  const message = await page.locator("#error").innerText();
  t.diagnostic(message);
  assert.match(message, /out of memory/);
  assert.match(message, /had taken 0\.0\d GiB/);
  assert.match(message, /Run it on the PC/);
  await page.unroute("**/web/worker/worker.mjs");
  await page.locator("#start").click();
  await status(page, "Done");
  assert.ok(await page.locator("#error").isHidden());
  assert.deepEqual(complaints, []);
});

test("a worker that the browser ends is noticed", async (t) => {
  const { page } = await openServed(t);
  await page.route("**/web/worker/worker.mjs", (route) =>
    route.fulfill({
      body: "throw new RangeError('Array buffer allocation failed');",
      contentType: "text/javascript",
      headers: { "Cross-Origin-Embedder-Policy": "require-corp" },
    }),
  );
  await page.locator("#start").click();
  await status(page, "It did not run.");
  assert.match(await page.locator("#error").innerText(), /allocation failed.*Run it on the PC/);
});

async function choose(page, t, bytes) {
  const file = join(temporaryFolder(t), "hostile.onnx");
  writeFileSync(file, bytes);
  await page.locator("#file").setInputFiles(file);
  await page.locator("#seed-note").waitFor();
}

async function runsLenet(page) {
  await page.locator("#model").selectOption("lenet5");
  await status(page, "Press Run.");
  await page.locator("#start").click();
  await status(page, "Done: 13 layers");
}

/** Models that want a gigabyte, and what is to be said. */
const greedy = [
  ["ConstantOfShape", hostile.zeros([1 << 20, 1 << 8]), /node huge \(ConstantOfShape/],
  ["Expand", hostile.expanded(2 ** 28), /node wide \(Expand/],
  ["Range", hostile.counted(2 ** 27), /node count \(Range/],
  ["a Loop that doubles", hostile.doubling(), /node again \(Loop.*node step \(Concat/],
];
for (const engine of ["reference", "strict", "fast"])
  test(`${engine}: a gigabyte is refused by node and bytes, and the next model runs`, async (t) => {
    const { page, complaints } = await openServed(t);
    await page.locator("#engine").selectOption(engine);
    await page.locator("#memory").selectOption({ label: "0.25 GiB" });
    for (const [what, bytes, wanted] of greedy) {
      await choose(page, t, bytes);
      await page.locator("#start").click();
      await status(page, "It did not run.");
      const message = await page.locator("#error").innerText();
      assert.match(message, wanted);
      assert.match(message, /out of memory for \d{9,} bytes.*Memory on the plain page/, what);
      const [, heap] = /had taken ([\d.]+) GiB/.exec(message);
      assert.ok(Number(heap) <= 1.25, message);
    }
    await runsLenet(page);
    assert.deepEqual(complaints, []);
  });

test("functions that expand to gigabytes are refused by name, and the next model runs", async (t) => {
  const { page, complaints } = await openServed(t);
  await page.locator("#memory").selectOption({ label: "0.25 GiB" });
  await choose(page, t, hostile.functions(17, 900));
  await page.locator("#start").click();
  await status(page, "It did not run.");
  const message = await page.locator("#error").innerText();
  assert.match(message, /function 'F0': function 'F1'.*nodes and names take more than 134217728 bytes/);
  await runsLenet(page);
  assert.deepEqual(complaints, []);
});

test("memory has a limit by default: half of what the browser reports, at most 3 GiB", async (t) => {
  const { page } = await openServed(t);
  const reported = await page.evaluate(() => navigator.deviceMemory);
  const usual = Math.min(reported / 2, 3);
  assert.equal(await page.locator("#memory option:checked").innerText(), `as usual (${usual} GiB)`);
  await choose(page, t, hostile.zeros([1 << 20, 900])); // below 4 GiB
  await page.locator("#start").click();
  await status(page, "It did not run.");
  const message = await page.locator("#error").innerText();
  assert.match(message, /node huge \(ConstantOfShape/);
});

test("Stop ends a model that never ends, and the next one runs", async (t) => {
  const { page, complaints } = await openServed(t);
  for (const engine of ["reference", "strict", "fast"]) {
    await page.locator("#engine").selectOption(engine);
    await choose(page, t, hostile.endless());
    await page.locator("#start").click();
    await status(page, "Preparing the engine…"); // what runs first has answered nothing yet
    await page.waitForTimeout(1500);
    await page.locator("#stop").click();
    await status(page, "Stopped.");
  }
  await runsLenet(page);
  assert.deepEqual(complaints, []);
});
