// A server and a Chromium on its page, for one test each; both are ended when the test is over.
import { readdirSync, readFileSync } from "node:fs";
import { chromium } from "playwright-core";

import { start, temporaryFolder, until } from "../../e2e/support.mjs";

const executablePath = process.env.DRIFTSCOPE_CHROME ?? "/usr/bin/chromium";

/** {url, traces, output, child}: `driftscope serve` with a folder for traces. */
export async function serve(t, options = [], env = {}) {
  const traces = temporaryFolder(t);
  const port = options.includes("--port") ? [] : ["--port", "0"];
  const served = start(["serve", ...port, "--traces", traces, ...options], { env });
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
  return { url, traces, output: served.output, child: served.child };
}

// Whether `promise` settles within so many seconds: Playwright waits for ever for an end or a new page.
async function settles(promise, seconds) {
  let timer;
  const late = new Promise((resolve) => (timer = setTimeout(resolve, seconds * 1000, false)));
  try {
    return await Promise.race([promise.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}

// The processes of Chromium that this process started, with what each of them started.
function browserProcesses() {
  const parents = new Map();
  for (const name of readdirSync("/proc"))
    try {
      if (!/^\d+$/.test(name)) continue;
      const parent = readFileSync(`/proc/${name}/stat`, "latin1").replace(/^.*\) \S+ (\d+) .*$/s, "$1");
      const command = readFileSync(`/proc/${name}/cmdline`, "latin1");
      parents.set(Number(name), { parent: Number(parent), command });
    } catch {
      // it ended meanwhile
    }
  const found = [];
  const add = (id) => {
    found.push(id);
    for (const [child, { parent }] of parents) if (parent === id) add(child);
  };
  for (const [id, { parent, command }] of parents)
    if (parent === process.pid && command.includes("--remote-debugging-")) add(id);
  return found;
}

function killBrowser() {
  for (const id of browserProcesses())
    try {
      process.kill(id, "SIGKILL");
    } catch {
      // it ended meanwhile
    }
}

// A Chromium whose GPU process was lost does not always end when asked to, which no page can change.
async function endWithin(seconds, what, promise) {
  if (await settles(promise, seconds)) return;
  console.error(`${what} did not end within ${seconds} s: Chromium is killed`);
  killBrowser();
  browser = undefined;
  await settles(promise, seconds);
}

let browser;
export async function openPage(t, options = {}) {
  browser ??= await chromium.launch({
    executablePath,
    args: ["--no-sandbox", "--disable-quic", "--enable-unsafe-swiftshader"],
  });
  const opening = browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  if (!(await settles(opening, 60))) throw new Error("Chromium opened no context within 60 s");
  const context = await opening;
  t.after(() => endWithin(30, "the page", context.close()));
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
  if (browser) await endWithin(30, "the browser", browser.close());
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

/** Waits until the screens show this: {view, busy, layer, …}, as their element's data. */
export const shows = (page, what) =>
  page.waitForFunction(
    (wanted) =>
      Object.entries(wanted).every(
        ([key, value]) => document.getElementById("screens").dataset[key] === value,
      ),
    what,
    { timeout: 60_000 },
  );
