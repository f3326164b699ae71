// A server and a Chromium on its page, for one test each; both are ended when the test is over.
import { chromium } from "playwright-core";

import { start, temporaryFolder, until } from "../../e2e/support.mjs";

const executablePath = process.env.DRIFTSCOPE_CHROME ?? "/usr/bin/chromium";

/** {url, traces, output}: `driftscope serve` with a folder for traces. */
export async function serve(t, options = [], env = {}) {
  const traces = temporaryFolder(t);
  const served = start(["serve", "--port", "0", "--traces", traces, ...options], { env });
  let ended = false;
  served.done.then(() => (ended = true));
  t.after(async () => {
    served.child.kill("SIGTERM");
    await until(() => ended, "the end of the server").finally(() => served.child.kill("SIGKILL"));
  });
  const url = await until(
    () => /http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]+\//.exec(served.output.stdout)?.[0],
    "the server's URL",
  );
  return { url, traces, output: served.output };
}

let browser;
export async function openPage(t, options = {}) {
  browser ??= await chromium.launch({
    executablePath,
    args: ["--no-sandbox", "--disable-quic", "--enable-unsafe-swiftshader"],
  });
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  t.after(() => context.close());
  const page = await context.newPage();
  // Anything the page reports (a script that the policy forbids, an exception) fails the test.
  const complaints = [];
  page.on("console", (message) => {
    // A page that is left while its engine arrives.
    const left = /Response body loading was aborted|falling back to ArrayBuffer/.test(message.text());
    if (message.type() === "error" && !left) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  return { page, complaints };
}

export async function closeBrowser() {
  await browser?.close();
  browser = undefined;
}

/** The plain page of `driftscope serve`, ready to run. */
export async function openServed(t, options) {
  const served = await serve(t);
  const opened = await openPage(t, options);
  await opened.page.goto(`${served.url}#plain`);
  await opened.page.locator("#start:enabled").waitFor();
  return { ...served, ...opened };
}

export const status = (page, text) =>
  page.locator("#status").filter({ hasText: text }).waitFor({ timeout: 60_000 });
