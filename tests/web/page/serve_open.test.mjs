// `driftscope serve --open`: what a browser's history keeps of it opens nothing.
import assert from "node:assert/strict";
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";

import { temporaryFolder, until } from "../../e2e/support.mjs";
import { closeBrowser, openPage, serve, status } from "./support.mjs";

after(closeBrowser);

/** A server started with --open, and the address that the desktop's opener got. */
async function serveOpen(t) {
  const folder = temporaryFolder(t);
  const opener = join(folder, "xdg-open");
  const given = join(folder, "given");
  writeFileSync(opener, `#!/bin/sh\nprintf %s "$1" >'${given}.new' && mv '${given}.new' '${given}'\n`);
  chmodSync(opener, 0o755);
  const served = await serve(t, ["--open"], { PATH: `${folder}:${process.env.PATH}` });
  await until(() => existsSync(given), "the desktop to be asked");
  return { ...served, given: readFileSync(given, "utf8") };
}

test("ServeOpen_TheFirstBrowser_RunsAModelHereAndOnThePcAndReloads", async (t) => {
  const { url, given } = await serveOpen(t);
  assert.notEqual(given, url);
  assert.match(given, /^http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]{48}\/$/);
  const { page, complaints } = await openPage(t);
  await page.goto(`${given}#plain`);
  await page.locator("#start:enabled").waitFor();
  await page.locator("#start").click();
  await status(page, "Done: 13 layers");
  await page.locator("#sent").filter({ hasText: "Sent to the PC" }).waitFor();
  await page.reload();
  await page.locator("#start:enabled").waitFor();
  assert.deepEqual(complaints, []);
});

test("ServeOpen_AnotherBrowserWithItsHistory_GetsNothing", async (t) => {
  const { url, given } = await serveOpen(t);
  const first = await openPage(t);
  await first.page.goto(`${given}#plain`);
  await first.page.locator("#start:enabled").waitFor();
  const { page } = await openPage(t);
  const answer = await page.goto(given);
  assert.equal(answer.status(), 403);
  assert.match(await page.locator("body").innerText(), /for one visit\..*driftscope serve has printed/);
  assert.equal((await page.goto(url)).status(), 200);
});
