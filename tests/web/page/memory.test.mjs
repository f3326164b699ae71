// Out of memory inside the browser: the page says so and goes on. In Chromium.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";

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

test("an engine that gets no more memory says how much it had, and the next run works", async (t) => {
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
