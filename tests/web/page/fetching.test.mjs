// What the page fetches: compressed, with progress, and only once. In Chromium.
import assert from "node:assert/strict";
import { after, test } from "node:test";

import { asset } from "../../e2e/support.mjs";
import { closeBrowser, openPage, openServed, serve, status } from "./support.mjs";

after(closeBrowser);

const ran = (page, name) =>
  page
    .locator("#ran div")
    .filter({ has: page.locator("dt", { hasText: new RegExp(`^${name}$`) }) })
    .locator("dd")
    .innerText();

async function choose(page, model) {
  await page.locator("#model").selectOption(model);
  await status(page, "Press Run.");
}

/** Responses of the server to this page, by the end of their path. */
function watch(page) {
  const answers = [];
  page.on("response", async (response) => {
    const headers = await response.allHeaders().catch(() => ({}));
    answers.push({ path: new URL(response.url()).pathname, status: response.status(), headers });
  });
  return (end) => answers.filter(({ path }) => path.endsWith(end));
}

/** Delays models: `release` lets one through, so that a test can look at the page meanwhile. */
async function holdModels(page) {
  let release;
  const released = new Promise((resolve) => (release = resolve));
  await page.route("**/assets/models/*.onnx", async (route) => {
    await released;
    await route.continue().catch(() => {}); // it may have been cancelled meanwhile
  });
  return release;
}

test("the engine comes compressed and is not fetched again when the page is opened once more", async (t) => {
  const { url } = await serve(t);
  const { page, complaints } = await openPage(t);
  const answers = watch(page);
  const load = async () => {
    await page.goto("about:blank"); // another fragment alone would load nothing
    await page.goto(`${url}#plain`);
    await page.locator("#start:enabled").waitFor();
    await page.locator("#start").click();
    await status(page, "Done");
    return ran(page, "Engine files");
  };
  assert.match(await load(), /compressed, .* unpacked/);
  const [wasm] = answers("relaxed-threads.wasm");
  assert.equal(wasm.headers["content-encoding"], "br");
  assert.equal(wasm.headers["content-type"], "application/wasm");
  assert.equal(wasm.headers.vary, "Accept-Encoding");
  assert.ok(Number(wasm.headers["content-length"]) < 0.8e6, wasm.headers["content-length"]);
  assert.deepEqual(answers(".more.wasm"), []);
  assert.equal(await load(), "kept by this browser");
  assert.equal(await ran(page, "Model file"), "248.3 kB, kept by this browser");
  assert.equal(answers("lenet5.onnx").length, 1);
  assert.deepEqual(complaints, []);
});

test("a comparison of two engines needs no second file", async (t) => {
  const { url } = await serve(t);
  const { page, complaints } = await openPage(t);
  const answers = watch(page);
  await page.goto("about:blank");
  await page.goto(`${url}#model=lenet5&targets=strict,fast&view=Layers`);
  await page.locator("#screens[data-targets='2'][data-busy='false']").waitFor({ timeout: 60_000 });
  assert.deepEqual(answers(".more.wasm"), []);
  assert.deepEqual(complaints, []);
});

test("the page's modules are fetched at once, each once", async (t) => {
  const { url } = await serve(t);
  const { page, complaints } = await openPage(t);
  await page.goto(`${url}#plain`);
  await page.locator("#start:enabled").waitFor();
  const links = page.locator("link[rel=modulepreload]");
  const preloaded = await links.evaluateAll((all) => all.map(({ href }) => href));
  const loaded = await page.evaluate(() => performance.getEntriesByType("resource").map(({ name }) => name));
  const modules = loaded.filter((name) => /\/web\/.*\.mjs$/.test(name) && !name.endsWith("/page.mjs"));
  assert.ok(preloaded.length > 30, preloaded.join("\n"));
  assert.deepEqual(modules.sort(), preloaded.sort());
  assert.deepEqual(complaints, []);
});

test("an engine that needs more than usual runs fetches the rest of itself", async (t) => {
  const { page, complaints } = await openServed(t);
  const answers = watch(page);
  await choose(page, "lenet1");
  await page.locator("#engine").selectOption("webgl");
  await page.locator("#start").click();
  await status(page, "Done: 9 layers");
  assert.ok(answers(".more.wasm").length > 0);
  assert.match(await ran(page, "Engine files"), /compressed, .* unpacked/);
  assert.deepEqual(complaints, []);
});

test("a model is fetched with a progress bar and can be stopped; Run fetches it again", async (t) => {
  const { page, complaints } = await openServed(t);
  // Slow enough to observe: Chromium's own network throttling.
  const network = await page.context().newCDPSession(page);
  await network.send("Network.emulateNetworkConditions", {
    offline: false,
    latency: 0,
    downloadThroughput: 300_000,
    uploadThroughput: -1,
  });
  await page.locator("#model").selectOption("resnet20");
  await status(page, /Fetching resnet20: .* of 1\.1 MB · .*\/s · \d+ s left/);
  assert.ok(Number(await page.locator("#progress").getAttribute("value")) < 1);
  assert.ok(await page.locator("#start").isDisabled());
  await page.locator("#stop").click();
  await status(page, "Stopped.");
  await network.send("Network.emulateNetworkConditions", {
    offline: false,
    latency: 0,
    downloadThroughput: -1,
    uploadThroughput: -1,
  });
  await page.locator("#start").click();
  await status(page, "Done");
  assert.match(await ran(page, "Model file"), /1\.1 MB, fetched in/);
  assert.deepEqual(complaints, []);
});

test("the last of several choices counts", async (t) => {
  const { page, complaints } = await openServed(t);
  const release = await holdModels(page);
  await page.locator("#model").selectOption("resnet20");
  await page.locator("#model").selectOption("lenet1");
  release();
  await status(page, "Press Run.");
  await page.locator("#start").click();
  await status(page, "Done: 9 layers");
  assert.deepEqual(complaints, []);
});

test("a model that was fetched once is not fetched again until it is cleared", async (t) => {
  const { page } = await openServed(t);
  await choose(page, "lenet1");
  const answers = watch(page);
  await choose(page, "lenet5");
  await choose(page, "lenet1");
  await page.reload();
  await page.locator("#start:enabled").waitFor();
  await choose(page, "lenet1");
  assert.equal(answers(".onnx").length, 0);
  assert.match(await page.locator("#kept-text").innerText(), /keeps 2 models, 262\.4 kB/);
  await page.locator("#clear").click();
  await page.locator("#kept").waitFor({ state: "hidden" });
  // The status may still be that of the choice before.
  const fetched = page.waitForResponse((response) => response.url().endsWith("/lenet5.onnx"));
  await choose(page, "lenet5");
  assert.equal((await fetched).status(), 200);
});

test("bytes that are not the listed ones run, but are not kept", async (t) => {
  const { page } = await openServed(t);
  await page.route("**/assets/models/lenet1.onnx", (route) =>
    route.fulfill({ path: asset("models", "lenet1.onnx").replace("lenet1", "resnet20") }),
  );
  await choose(page, "lenet1");
  assert.match(await page.locator("#kept-text").innerText(), /keeps 1 model,/);
});

// Another page of this origin (other servers have this address before and after us) may write there.
const tampered = [
  ["of other bytes", { flip: 1, more: 0 }],
  ["much longer", { flip: 0, more: 5_000_000 }],
  ["shorter", { flip: 0, more: -100 }],
];
for (const [what, how] of tampered)
  test(`a kept model that another page made ${what} is dropped and fetched again`, async (t) => {
    const { page, complaints } = await openServed(t);
    await choose(page, "lenet1");
    await page.evaluate(async ({ flip, more }) => {
      const store = await caches.open("driftscope-models-1");
      for (const request of await store.keys()) {
        const bytes = new Uint8Array(await (await store.match(request)).arrayBuffer());
        const wrong = new Uint8Array(bytes.length + more);
        wrong.set(bytes.subarray(0, wrong.length));
        wrong[100] ^= flip;
        const headers = { "X-Name": "%E0%A4%A", "Content-Length": "x" };
        await store.put(request, new Response(wrong, { headers }));
      }
    }, how);
    const answers = watch(page);
    await page.reload();
    await page.locator("#start:enabled").waitFor();
    await choose(page, "lenet1");
    await page.locator("#start").click();
    await status(page, "Done: 9 layers");
    assert.equal(answers("lenet1.onnx").length, 1);
    assert.match(
      await ran(page, "Model file"),
      /fetched in .* s, since the copy in this browser had been changed/,
    );
    await choose(page, "lenet5");
    await choose(page, "lenet1");
    assert.equal(answers("lenet1.onnx").length, 1, "the right bytes are kept again");
    assert.deepEqual(complaints, []);
  });

test("a model that cannot be fetched says why, and Run tries again", async (t) => {
  const { page } = await openServed(t);
  await page.route("**/assets/models/lenet1.onnx", (route) => route.abort());
  await page.locator("#model").selectOption("lenet1");
  await status(page, "It could not be fetched; Run tries again.");
  assert.match(await page.locator("#error").innerText(), /lenet1: the connection was interrupted/);
  await page.unroute("**/assets/models/lenet1.onnx");
  await page.locator("#start").click();
  await status(page, "Done: 9 layers");
});

test("an engine whose threads do not start says so, and does not wait", async (t) => {
  const { page } = await openServed(t);
  const elsewhere = `const Real = Worker;
    globalThis.Worker = class extends Real {
      constructor(url, options) {
        super(new URL("nowhere.mjs", url), options);
      }
    };`;
  await page.route("**/web/worker/worker.mjs", async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, body: `${await response.text()}\n${elsewhere}` });
  });
  await page.locator("#start").click();
  const why = "A thread of the engine did not start";
  await page.locator("#error").filter({ hasText: why }).waitFor({ timeout: 20_000 });
  await page.unroute("**/web/worker/worker.mjs");
  await page.locator("#start").click();
  await status(page, "Done");
});

test("with full storage everything works, and nothing is kept", async (t) => {
  const { url } = await serve(t);
  const { page, complaints } = await openPage(t);
  await page.addInitScript(() => {
    const full = () => new DOMException("no room", "QuotaExceededError");
    Cache.prototype.put = () => Promise.reject(full());
    Storage.prototype.setItem = () => {
      throw full();
    };
  });
  await page.goto(`${url}#plain`);
  await page.locator("#start:enabled").waitFor();
  await page.locator("#start").click();
  await status(page, "Done");
  assert.ok(await page.locator("#kept").isHidden());
  assert.deepEqual(complaints, []);
});
