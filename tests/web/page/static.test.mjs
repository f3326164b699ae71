// The page as static files on a host that sends no headers, in a subfolder. In Chromium.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, test } from "node:test";

import { root, temporaryFolder } from "../../e2e/support.mjs";
import { putBuild, site, staticHost } from "./static_host.mjs";
import { closeBrowser, openPage, serve, status } from "./support.mjs";

after(closeBrowser);

const ready = (page) => page.locator("#start:enabled").waitFor();
const isolated = (page) => page.evaluate(() => self.crossOriginIsolated);
const hosting = (page) => page.locator("#hosting-text").innerText();

async function runs(page) {
  await page.locator("#start").click();
  await status(page, "Done: 13 layers");
  assert.equal(await page.locator("#layers tr").count(), 13);
}

/** Counts how often the page is loaded. */
function countLoads(page) {
  const loads = [];
  page.on("request", (request) => request.isNavigationRequest() && loads.push(request.url()));
  return loads;
}

async function openStatic(t, hostOptions, pageOptions, script) {
  const host = await staticHost(t, hostOptions);
  const opened = await openPage(t, pageOptions);
  if (script) await opened.page.addInitScript(script);
  const loads = countLoads(opened.page);
  await opened.page.goto(`${host.url}#plain`);
  return { host, loads, ...opened };
}

test("on a host that sends no headers a service worker isolates the page, after one reload", async (t) => {
  const { page, loads, complaints, host } = await openStatic(t);
  await ready(page);
  assert.ok(await isolated(page));
  assert.equal(loads.length, 2);
  assert.match(await page.locator("#variant").innerText(), /driftscope-relaxed-threads/);
  assert.ok(await page.locator("#hosting").isHidden());
  await runs(page);
  assert.match(await page.locator("#ran").innerText(), /Threads\s+\d+ of \d+ requested/);
  await page.reload();
  await ready(page);
  assert.equal(loads.length, 3, "a page that is isolated is not loaded again");
  assert.deepEqual(
    host.requests.filter((name) => name.startsWith("/") || name.includes("//")),
    [],
  );
  assert.deepEqual(complaints, []);
});

const rejections = [
  [
    "rejects service workers",
    () =>
      (navigator.serviceWorker.register = async () => {
        throw new DOMException("The user denied permission", "SecurityError");
      }),
    /The user denied permission/,
  ],
  ["has no service workers", () => delete Navigator.prototype.serviceWorker, /no service workers/],
  [
    "keeps nothing between loads",
    () =>
      Object.defineProperty(window, "sessionStorage", {
        get() {
          throw new DOMException("Access is denied", "SecurityError");
        },
      }),
    /Access is denied/,
  ],
];
for (const [what, script, reason] of rejections)
  test(`where a browser ${what} the page runs on one thread and says so`, async (t) => {
    const { page, loads, complaints } = await openStatic(t, {}, {}, script);
    await ready(page);
    assert.equal(loads.length, 1);
    assert.match(await hosting(page), /^One thread only/);
    assert.match(await hosting(page), reason);
    assert.match(
      await page.locator("#variant").innerText(),
      /driftscope-relaxed \(.*not cross-origin isolated/,
    );
    await runs(page);
    assert.match(await page.locator("#ran").innerText(), /Threads\s+1 of 1 requested/);
    assert.deepEqual(complaints, []);
  });

test("a service worker that does not isolate reloads the page once, not forever", async (t) => {
  const { page, loads } = await openStatic(t, {}, {}, () =>
    Object.defineProperty(self, "crossOriginIsolated", { get: () => false }),
  );
  await ready(page);
  assert.equal(loads.length, 2);
  assert.match(await hosting(page), /does not isolate the page, although/);
  await runs(page);
});

test("a file that is not the listed one: no service worker is installed, the page says so", async (t) => {
  const host = await staticHost(t);
  host.files.set("web/page/style.css", "body { color: red }");
  const { page } = await openPage(t);
  await page.goto(`${host.url}#plain`);
  await ready(page);
  assert.match(await hosting(page), /One thread only.*other bytes than the site's list/);
});

test("a host that does not know .mjs is corrected by the service worker", async (t) => {
  const { page } = await openStatic(t, { mjs: "application/octet-stream" });
  await ready(page);
  assert.ok(await isolated(page));
  await runs(page);
});

test("a host that isolates needs no reload, unless it does not know .mjs", async (t) => {
  const headers = {
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
  };
  for (const [mjs, wanted] of [
    ["text/javascript", 1],
    ["text/plain", 2],
  ]) {
    const { page, loads } = await openStatic(t, { mjs, headers });
    await ready(page);
    assert.equal(loads.length, wanted);
    assert.ok(await isolated(page));
  }
});

test("without service workers a host that does not know .mjs is reported", async (t) => {
  const { page } = await openStatic(
    t,
    { mjs: "application/octet-stream" },
    {},
    () => delete Navigator.prototype.serviceWorker,
  );
  await page.locator("#error").filter({ hasText: "it has to send text/javascript" }).waitFor();
});

test("once used, it opens and runs with the host gone, and keeps each model once", async (t) => {
  const { page, host, complaints } = await openStatic(t);
  await ready(page);
  await runs(page);
  await page.waitForFunction(() => document.getElementById("screens").dataset.view === "Run");
  await host.stop();
  await page.reload();
  await ready(page);
  assert.ok(await isolated(page));
  await runs(page);
  await page.waitForFunction(() => document.getElementById("screens").dataset.view === "Run");
  assert.deepEqual(complaints, []);
  const kept = await page.evaluate(async () => {
    const names = await caches.keys();
    const sizes = await Promise.all(
      names.map(async (name) => {
        const store = await caches.open(name);
        const answers = await Promise.all((await store.keys()).map((request) => store.match(request)));
        return Promise.all(answers.map(async (answer) => (await answer.blob()).size));
      }),
    );
    return { names, sizes: sizes.flat() };
  });
  assert.equal(kept.sizes.filter((size) => size === 248305).length, 1, "lenet5.onnx");
  assert.equal(kept.names.length, 2);
  // Files never used are not cached, and the page says so.
  await page.locator("#model").selectOption("lenet1");
  await page
    .locator("#error")
    .filter({ hasText: /not kept by this browser/ })
    .waitFor();
});

test("kept files that another page of the origin changed are fetched again, and never run", async (t) => {
  const { page, host, complaints } = await openStatic(t);
  await ready(page);
  await runs(page);
  // As any other site of the same host can, which finds the cache and its keys in a list.
  const changed = await page.evaluate(async () => {
    const name = (await caches.keys()).find((one) => one.startsWith("driftscope-site"));
    const store = await caches.open(name);
    let count = 0;
    for (const request of await store.keys()) {
      const type = /\.(mjs|js|html)$/.exec(request.url)?.[1];
      if (!type) continue;
      const text = await (await store.match(request)).text();
      const script =
        "(self.document ?? self).wasHere = true; new BroadcastChannel('was here').postMessage(1);\n";
      const body =
        type === "html" ? text.replace("<script ", `<script src="data:,1"></script><script `) : script + text;
      await store.put(request, new Response(body, { headers: { "Content-Type": "text/html" } }));
      ++count;
    }
    return count;
  });
  assert.ok(changed > 30, String(changed));
  await page.addInitScript(() => {
    window.heard = 0;
    new BroadcastChannel("was here").onmessage = () => ++window.heard;
  });
  host.requests.length = 0;
  await page.reload();
  await ready(page);
  assert.ok(await isolated(page));
  await runs(page);
  assert.equal(await page.evaluate(() => window.heard + Number(document.wasHere ?? 0)), 0);
  assert.equal(await page.locator('script[src^="data:"]').count(), 0);
  assert.ok(host.requests.includes("web/page/page.mjs"), "fetched again");
  // What is kept is right again: it works without the host.
  await host.stop();
  await page.reload();
  await ready(page);
  await runs(page);
  assert.deepEqual(complaints, []);
});

test("kept files that another page changed are not served when the host is gone either", async (t) => {
  const { page, host } = await openStatic(t);
  await ready(page);
  await page.evaluate(async () => {
    const store = await caches.open((await caches.keys()).find((one) => one.startsWith("driftscope-site")));
    for (const request of await store.keys())
      if (request.url.endsWith(".css")) await store.put(request, new Response("body { color: red }"));
  });
  await host.stop();
  const answer = await page.evaluate(async () => {
    const response = await fetch("web/page/style.css", { cache: "reload" });
    return { code: response.status, text: response.statusText };
  });
  assert.equal(answer.code, 504);
  assert.match(answer.text, /not kept by this browser/);
});

test("a new build replaces the old one as a whole: no page sees files of both", async (t) => {
  const { page, host } = await openStatic(t);
  await ready(page);
  // The host gets a new build, with a different style and engine.
  const engine = "engine/driftscope-relaxed-threads.mjs";
  const changed = [
    ["web/page/style.css", "\n/* new */"],
    [engine, "\nself.newBuild = true;"],
  ];
  putBuild(
    host.files,
    changed.map(([name, more]) => [name, readFileSync(join(site, name), "utf8") + more]),
  );
  // The open page is of the old build: it gets no engine of the new one.
  await page.locator("#start").click();
  await page.locator("#error").filter({ hasText: "The engine could not be fetched" }).waitFor();
  // It learns of the new build, and gets it at the next load.
  await page.locator("#hosting-text").filter({ hasText: "A newer build" }).waitFor();
  await page.evaluate(() => (window.old = true));
  await page.locator("#hosting-reload").click();
  await page.waitForFunction(() => !window.old && document.querySelector("#start:enabled"));
  assert.match(await page.evaluate(async () => (await fetch("web/page/style.css")).text()), /\/\* new \*\/$/);
  assert.ok(await page.locator("#hosting").isHidden());
  await runs(page);
  const styles = await page.evaluate(async () => {
    const store = await caches.open((await caches.keys()).find((name) => name.startsWith("driftscope-site")));
    const kept = (await store.keys()).filter(({ url }) => url.endsWith(".css"));
    return kept.length;
  });
  assert.equal(styles, 1, "the old build's files are gone");
});

test("`driftscope serve` needs no service worker and starts none", async (t) => {
  const { url } = await serve(t);
  const { page } = await openPage(t);
  await page.addInitScript(() => (navigator.serviceWorker.register = async () => (window.asked = true)));
  await page.goto(`${url}#plain`);
  await ready(page);
  assert.ok(await isolated(page));
  assert.equal(await page.evaluate(() => window.asked), undefined);
});

test("tools/site writes the files for a host, and overwrites nothing", (t) => {
  const folder = join(temporaryFolder(t), "public");
  const write = () =>
    spawnSync(join(root, "tools", "site"), [folder], {
      encoding: "utf8",
      env: { ...process.env, DRIFTSCOPE_SITE: site },
    });
  const done = write();
  assert.equal(done.status, 0, done.stderr);
  const [, list] = /const site = (.*);/.exec(readFileSync(join(folder, "service_worker.js"), "utf8"));
  const { files } = JSON.parse(list);
  assert.ok(Object.hasOwn(files, "engine/driftscope-relaxed-threads.wasm"));
  assert.deepEqual(
    Object.keys(files).filter((path) => !existsSync(join(folder, path))),
    [],
  );
  assert.deepEqual(readdirSync(dirname(folder)), ["public"]);
  writeFileSync(join(folder, "index.html"), "changed");
  const rejected = write();
  assert.equal(rejected.status, 1);
  assert.match(rejected.stderr, /public is there already/);
  assert.equal(readFileSync(join(folder, "index.html"), "utf8"), "changed");
});
