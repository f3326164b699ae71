// The page opened by hand, in Chromium.
import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";

import { asset, readSafetensors, run, start, temporaryFolder, until } from "../../e2e/support.mjs";
import { loop } from "../../e2e/tiny_onnx.mjs";
import { closeBrowser, openPage, openServed, serve, status } from "./support.mjs";

after(closeBrowser);

const factOf = (page, name) =>
  page
    .locator("#facts div")
    .filter({ has: page.locator("dt", { hasText: new RegExp(`^${name}$`) }) })
    .locator("dd")
    .innerText();

test("it shows what this browser can do and which build it takes", async (t) => {
  const { page, complaints } = await openServed(t);
  assert.equal(await factOf(page, "Isolated"), "yes");
  assert.equal(await factOf(page, "Threads"), "yes");
  assert.equal(await factOf(page, "SIMD"), "yes");
  assert.equal(await factOf(page, "WebGL2"), "yes");
  assert.match(await page.locator("#variant").innerText(), /driftscope-relaxed-threads.*isolated/);
  assert.deepEqual(complaints, []);
});

test("a shipped model runs, and its trace on the PC has the bits of the PC", async (t) => {
  const { page, complaints, traces } = await openServed(t);
  await page.locator("#sample").fill("7");
  await page.locator("#start").click();
  await status(page, "Done: 13 layers");
  assert.equal(await page.locator("#layers tr").count(), 13);
  assert.equal(await page.locator("#bars li").count(), 10);
  assert.match(await page.locator("#output-note").innerText(), /It says \d; the sample is \d/);
  await page.locator("#sent").filter({ hasText: "Sent to the PC" }).waitFor();
  const [file] = readdirSync(traces);
  const native = join(temporaryFolder(t), "native.safetensors");
  const source = `idx:${asset("data", "digits-test-images.idx3-ubyte")}#7`;
  const done = run([
    "run",
    asset("models", "lenet5.onnx"),
    "--input",
    source,
    "--target",
    "pc/strict",
    "--trace",
    native,
  ]);
  assert.equal(done.status, 0, done.stderr);
  const left = readSafetensors(native).tensors;
  const right = readSafetensors(join(traces, file)).tensors;
  assert.equal(right.size, left.size);
  for (const [name, { bytes }] of left) assert.ok(bytes.equals(right.get(name).bytes), name);
  assert.deepEqual(complaints, []);
});

test("the trace can be downloaded", async (t) => {
  const { page } = await openServed(t);
  await page.locator("#start").click();
  await status(page, "Done");
  const [download] = await Promise.all([page.waitForEvent("download"), page.locator("#download").click()]);
  assert.equal(download.suggestedFilename(), "lenet5-chrome-strict.safetensors");
  const { metadata, tensors } = readSafetensors(await download.path());
  assert.equal(metadata.format, "driftscope-trace-1");
  assert.ok(tensors.size > 10);
});

test("the whole test set runs with PyTorch's accuracy", async (t) => {
  const { page } = await openServed(t);
  await page.locator("#whole-set").click();
  await status(page, "Done: 450 samples");
  assert.match(await page.locator("#output-note").innerText(), /^445 of 450 .* 98\.9 %/);
});

test("a chosen and a dropped .onnx run on seeded numbers", async (t) => {
  const { page } = await openServed(t);
  await page.locator("#file").setInputFiles(asset("models", "lenet1.onnx"));
  await page.locator("#seed-note").waitFor();
  await page.locator("#start").click();
  await status(page, "Done");
  const bytes = [...readFileSync(asset("models", "resnet20.onnx"))];
  const transfer = await page.evaluateHandle((content) => {
    const data = new DataTransfer();
    data.items.add(new File([new Uint8Array(content)], "dropped.onnx"));
    return data;
  }, bytes);
  await page.locator("#drop").dispatchEvent("drop", { dataTransfer: transfer });
  await page.locator("#model").filter({ hasText: "dropped.onnx" }).waitFor();
  await page.locator("#start").click();
  await status(page, /Done: \d\d layers/);
  await page.locator("#model").selectOption("lenet1");
  await page.locator("#sample-field").waitFor();
  await page.locator("#model").selectOption({ label: "dropped.onnx (1.1 MB)" });
  await page.locator("#seed-note").waitFor();
});

test("a broken model shows a readable error, and the next one runs", async (t) => {
  const { page, complaints } = await openServed(t);
  const broken = join(temporaryFolder(t), "broken.onnx");
  writeFileSync(broken, readFileSync(asset("models", "lenet5.onnx")).subarray(0, 5000));
  await page.locator("#file").setInputFiles(broken);
  await page.locator("#start").click();
  await status(page, "It did not run.");
  const message = await page.locator("#error").innerText();
  t.diagnostic(message);
  assert.ok(message.length > 20);
  await page.locator("#model").selectOption("lenet1");
  await page.locator("#sample-field").waitFor();
  assert.ok(await page.locator("#error").isHidden());
  await page.locator("#start").click();
  await status(page, "Done");
  assert.deepEqual(complaints, []);
});

test("a run can be stopped", async (t) => {
  const { page } = await openServed(t);
  await page.locator("#model").selectOption("resnet20");
  await page.locator("#sample-range").filter({ hasText: "generated" }).waitFor();
  await page.locator("#engine").selectOption("reference");
  await page.locator("#repeat").fill("10000");
  await page.locator("#start").click();
  await status(page, "Running");
  await page.locator("#stop").click();
  await status(page, "Stopped.");
  await page.locator("#start:enabled").waitFor();
});

test("more threads requested than workers exist: fewer run, and the trace says so", async (t) => {
  const { page } = await openServed(t);
  const model = [...readFileSync(asset("models", "lenet1.onnx"))];
  const ran = await page.evaluate(async (bytes) => {
    const { runInWorker } = await import(new URL("web/worker/runner.mjs", location.href));
    const task = {
      variant: "driftscope-relaxed-threads",
      threads: 2,
      model: new Uint8Array(bytes),
      inputs: new Uint8Array(0),
      start: { target: "chrome/strict:threads=6", seed: 1 },
    };
    return (await runInWorker(task)).reply.run;
  }, model);
  assert.equal(ran.threads_asked, 6);
  assert.equal(ran.threads_real, 2);
});

test("without threads the other build gives the same bits", async (t) => {
  const { page } = await openServed(t);
  const model = [...readFileSync(asset("models", "lenet5.onnx"))];
  const outputs = await page.evaluate(async (bytes) => {
    const { runInWorker } = await import(new URL("web/worker/runner.mjs", location.href));
    const runOn = (variant, threads) =>
      runInWorker({
        variant,
        threads,
        model: new Uint8Array(bytes),
        inputs: new Uint8Array(0),
        start: { target: "chrome/strict", seed: 5 },
      });
    const results = [await runOn("driftscope-simd", 1), await runOn("driftscope-simd-threads", 2)];
    return results.map(({ reply }) => ({ threads: reply.run.threads_real, values: reply.outputs[0].values }));
  }, model);
  assert.equal(outputs[0].threads, 1);
  assert.deepEqual(outputs[0].values, outputs[1].values);
});

/** A PC that waits for chrome/strict to run LeNet-5, and the URL that its browser is to open. */
async function waitingPc(t, folder, options = []) {
  // A fake browser that only reports its URL, so that the page can be opened here.
  const program = join(folder, "browser");
  writeFileSync(
    program,
    `#!/bin/bash
[[ $1 != --version ]] || { echo Fake 1.0; exit; }
echo "\${!#}" > ${folder}/url.tmp && mv ${folder}/url.tmp ${folder}/url
exec sleep 100
`,
    { mode: 0o700 },
  );
  const trace = join(folder, "trace.safetensors");
  const pc = start(
    [
      "run",
      asset("models", "lenet5.onnx"),
      "--target",
      "chrome/strict:threads=2",
      "--trace",
      trace,
      ...options,
    ],
    { env: { DRIFTSCOPE_CHROME: program } },
  );
  t.after(() => pc.child.kill());
  const url = await until(
    () => existsSync(join(folder, "url")) && readFileSync(join(folder, "url"), "utf8").trim(),
    "the job's URL",
  );
  return { pc, trace, url };
}

test("a job of the waiting PC runs automatically, and its trace arrives there", async (t) => {
  const { pc, trace, url } = await waitingPc(t, temporaryFolder(t));
  const { page, complaints } = await openPage(t);
  await page.goto(url);
  await status(page, "Done: the trace is with the PC.");
  assert.match(
    await page.locator("#tagline").innerText(),
    /lenet5.* as chrome\/strict:threads=2 for the waiting PC/,
  );
  assert.equal(await page.locator("#layers tr").count(), 13);
  const done = await pc.done;
  assert.equal(done.status, 0, done.stderr);
  const { metadata } = readSafetensors(trace);
  const ran = JSON.parse(metadata.run);
  assert.equal(ran.browser_version, "Fake 1.0");
  assert.equal(ran.isolated, true);
  assert.equal(ran.wasm_variant, "driftscope-relaxed-threads");
  assert.ok(JSON.parse(metadata.memory).some(({ kind }) => kind === "process_tree_pss"));
  assert.deepEqual(complaints, []);
});

test("no progress is reported after the result, however slow the reporting", async (t) => {
  const { pc, url } = await waitingPc(t, temporaryFolder(t));
  const { page, complaints } = await openPage(t);
  let underWay = 0;
  let atResult;
  await page.route("**/progress", async (route) => {
    underWay += 1;
    const answer = await route.fetch();
    await new Promise((resolve) => setTimeout(resolve, 900)); // longer than a heartbeat
    underWay -= 1;
    await route.fulfill({ response: answer });
  });
  await page.route("**/result", async (route) => {
    atResult = underWay;
    await route.continue();
  });
  await page.goto(url);
  await status(page, "Done: the trace is with the PC.");
  assert.equal((await pc.done).status, 0);
  assert.equal(atResult, 0, "progress was under way when the result went off");
  assert.deepEqual(complaints, []);
});

/** The next pages' workers are blocked for so long before they do anything, as by a long call. */
async function blockWorkers(page, ms) {
  await page.route("**/worker/worker.mjs", async (route) => {
    const response = await route.fetch();
    const wait = `const until = Date.now() + ${ms};\nwhile (Date.now() < until);\n`;
    await route.fulfill({ response, body: wait + (await response.text()) });
  });
}

test("a worker that is blocked for longer than the timeout is waited for", async (t) => {
  const { pc, url } = await waitingPc(t, temporaryFolder(t), ["--timeout", "4"]);
  const { page, complaints } = await openPage(t);
  await blockWorkers(page, 7_000);
  const began = Date.now();
  await page.goto(url);
  await status(page, "Done: the trace is with the PC.");
  assert.ok(Date.now() - began > 7_000);
  const { status: exit, stderr } = await pc.done;
  assert.equal(exit, 0, stderr);
  assert.match(stderr, /preparing, slowly: no progress for 4\.0 s, at 20\.0 s it is given up/);
  assert.deepEqual(complaints, []);
});

test("a worker that is blocked forever is given up, and the error says how to wait longer", async (t) => {
  const patience = ["--timeout", "20", "--stall-timeout", "5"];
  const { pc, url } = await waitingPc(t, temporaryFolder(t), patience);
  const { page } = await openPage(t);
  await blockWorkers(page, 1e9);
  await page.goto(url);
  const { status: exit, stderr } = await pc.done;
  assert.equal(exit, 3, stderr);
  assert.match(stderr, /made no progress for 5\.0 s in phase 'compile' and was ended/);
  assert.match(stderr, /its page lives, but its worker has not answered for [45]\.\d s/);
  assert.match(stderr, /--stall-timeout allows more/);
});

test("a page that has stopped is given up after the timeout", async (t) => {
  const { pc, url } = await waitingPc(t, temporaryFolder(t), ["--timeout", "4", "--stall-timeout", "300"]);
  const { page } = await openPage(t);
  await blockWorkers(page, 1e9);
  const started = page.waitForRequest("**/worker/worker.mjs");
  await page.goto(url);
  await started;
  await page.evaluate(() =>
    setTimeout(() => {
      for (;;);
    }, 1000),
  );
  const { status: exit, stderr } = await pc.done;
  assert.equal(exit, 3, stderr);
  assert.match(stderr, /gave no sign of life for 4\.0 s in phase 'compile' and was ended/);
});

test("a missing job is reported", async (t) => {
  const { url } = await serve(t);
  const { page } = await openPage(t);
  await page.goto(`${url}?job=0123456789abcdef`);
  await page.locator("#error").filter({ hasText: "no longer waits" }).waitFor();
});

test("layers inside a loop are shown", async (t) => {
  const { page, complaints } = await openServed(t);
  const model = { name: "loop.onnx", mimeType: "application/octet-stream", buffer: loop(3) };
  await page.locator("#file").setInputFiles(model);
  await page.locator("#start").click();
  await status(page, "Done: 7 layers");
  assert.match(await page.locator("#layers").innerText(), /loop\[2\]\/shift/);
  assert.deepEqual(complaints, []);
});

test("it fits a narrow phone and reads without a mouse", async (t) => {
  const { page } = await openServed(t, { viewport: { width: 360, height: 740 } });
  await page.locator("#start").focus();
  await page.keyboard.press("Enter");
  await status(page, "Done");
  const { scroll, width } = await page.evaluate(() => ({
    scroll: document.documentElement.scrollWidth,
    width: document.documentElement.clientWidth,
  }));
  assert.ok(scroll <= width, `${scroll} px wide on ${width}`);
  const unnamed = await page.evaluate(() =>
    [...document.querySelectorAll("input, select, button")]
      .filter(
        (control) =>
          !control.labels?.length && !control.getAttribute("aria-label") && !control.textContent.trim(),
      )
      .map((control) => control.id),
  );
  assert.deepEqual(unnamed, []);
});
