// One page in one Chromium: a visitor who runs models on several engines again and again. The trace of each
// run goes to the server, and its values must have the bits of the first run of the same kind.
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";

import { chromium } from "playwright-core";

import { readSafetensors, sha256 } from "../../e2e/support.mjs";
import { until } from "../programs.mjs";
import { Subject } from "../subject.mjs";
import { folderSize } from "../watch/folders.mjs";
import { descriptors, processesOf, pss, threads } from "../watch/procfs.mjs";
import { probePage } from "./page_probe.mjs";

const executablePath = process.env.DRIFTSCOPE_CHROME ?? "/usr/bin/chromium";
const args = [
  "--no-sandbox",
  "--disable-quic",
  // Each server has another address, under which the cache keeps the page again: full early, it is flat.
  "--disk-cache-size=67108864",
  // Its GPU process is killed on purpose, again and again.
  "--disable-gpu-process-crash-limit",
  "--disable-domain-blocking-for-3d-apis",
  "--enable-unsafe-swiftshader",
  "--enable-unsafe-webgpu",
  "--use-webgpu-adapter=swiftshader",
  "--enable-features=Vulkan",
];
// [model, engine], weight: what is quick is done often.
const plans = [
  [["lenet1", "strict"], 8],
  [["lenet5", "strict"], 8],
  [["lenet1", "fast"], 6],
  [["lenet5", "fast"], 6],
  [["lenet5-int8", "strict"], 2],
  [["lenet5", "reference"], 2],
  [["lenet1", "webgl"], 3],
  [["lenet1", "webgpu"], 1],
  [["lenet5", "ort"], 2],
  [["lenet1", "tfjs-cpu"], 1],
  [["lenet1", "tfjs-wasm"], 1],
  [["lenet1", "tfjs-webgl"], 1],
  [["lenet1", "litert-wasm"], 1],
  [["resnet20", "fast"], 1],
];

export class Page extends Subject {
  #seen = new Map(); // model, engine, sample → digest of the values
  #heap; // bytes, after a collection
  #measured = -Infinity;
  #profileBytes;
  #doing; // for a report
  #turn = Promise.resolve(); // of who uses the page last

  constructor(soak) {
    super(soak, "page");
    this.folder = soak.folder("page");
    this.profile = join(this.folder, "profile");
    const sum = (kind, read) => () => {
      const found = this.processes(kind);
      return found.length > 0 ? found.reduce((total, { pid }) => total + read(pid), 0) : undefined;
    };
    const probed = (key) => () => this.probed?.[key];
    this.curves = [
      { name: "page renderer memory", kind: "collected", read: sum("renderer", pss) },
      { name: "page GPU process memory", kind: "collected", read: sum("gpu-process", pss) },
      { name: "browser process memory", kind: "collected", read: sum("", pss) },
      { name: "page JS heap", kind: "bytes", read: () => this.#heap },
      { name: "page wasm memory", kind: "exact", read: probed("wasm") },
      { name: "page elements", kind: "count", read: probed("elements") },
      { name: "browser descriptors", kind: "count", read: sum("", descriptors) },
      { name: "renderer descriptors", kind: "count", read: sum("renderer", descriptors) },
      { name: "renderer threads", kind: "count", read: sum("renderer", threads) },
      { name: "browser processes", kind: "count", read: () => processesOf(this.profile).length || undefined },
      { name: "page profile on disk", kind: "bytes", read: () => this.#profileBytes },
    ];
  }

  /** Of the browser: "renderer", "gpu-process", "utility", "" (the browser itself). */
  processes(kind) {
    return processesOf(this.profile).filter(({ line }) =>
      kind === "" ? !line.includes("--type=") : line.includes(`--type=${kind}`),
    );
  }

  async start() {
    await this.#launch();
    await this.#open();
  }

  async #launch() {
    await this.#close();
    // A browser that was killed must not ask whether to restore its pages.
    rmSync(this.profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    this.context = await chromium.launchPersistentContext(this.profile, {
      executablePath,
      args,
      env: { ...process.env, HOME: this.folder, TMPDIR: join(this.folder, "tmp") },
      viewport: { width: 1280, height: 900 },
    });
    this.context.on("close", () => (this.context = undefined));
  }

  async #open() {
    this.page?.removeAllListeners();
    await this.page?.close().catch(() => {});
    this.complaints = [];
    this.crashed = false;
    this.page = await this.context.newPage();
    for (const other of this.context.pages()) if (other !== this.page) await other.close();
    // Playwright goes on waiting for a page that has crashed.
    this.lost = new Promise((_, reject) => {
      const lose = (what) => reject(new Error(what));
      this.page.once("crash", () => lose("the page has crashed"));
      this.context.once("close", () => lose("the browser has ended"));
    });
    this.lost.catch(() => (this.crashed = true));
    this.page.on("pageerror", (error) => this.complaints.push(String(error)));
    this.page.on("console", (message) => message.type() === "error" && this.complaints.push(message.text()));
    await this.page.addInitScript(probePage);
    this.devtools = await this.context.newCDPSession(this.page);
    await this.devtools.send("Performance.enable");
    await this.#visit();
  }

  async #visit() {
    const server = this.soak.subjects.get("server");
    await until(() => server.pid && server.url, "the server");
    this.visited = server.url;
    this.life += 1; // a document of its own
    await this.page.goto("about:blank"); // or it would stay where only what follows # differs
    await this.page.goto(`${server.url}#plain`);
    await this.page.locator("#start:enabled").waitFor({ timeout: 60_000 });
    this.complaints.length = 0; // of what was before
  }

  async #close() {
    await Promise.race([this.context?.close().catch(() => {}), this.soak.sleep(5000)]);
    this.context = undefined;
    for (const { pid } of processesOf(this.profile))
      try {
        process.kill(pid, "SIGKILL");
      } catch {}
    await until(() => processesOf(this.profile).length === 0, "the browser's processes to end", 10_000);
  }

  recover() {
    return this.#inTurn(() => this.#recover());
  }

  async #recover() {
    if (!this.context) {
      this.soak.event("page: the browser is started again");
      await this.#launch();
      await this.#open();
    } else if (this.crashed || this.page.isClosed()) {
      this.soak.event("page: a new page");
      await this.#open();
    } else await this.#visit();
  }

  lastWords() {
    return (this.complaints ?? []).join("\n");
  }

  /** A fault uses the page between two runs, and the next one must work. */
  exclusively(work) {
    return this.disturb(() => this.#inTurn(work));
  }

  step() {
    return this.#inTurn(() => Promise.race([this.#step(), this.lost]));
  }

  #inTurn(work) {
    const mine = this.#turn.then(work);
    this.#turn = mine.catch(() => {});
    return mine;
  }

  async #step() {
    if (!this.context) throw new Error("the browser has ended");
    if (this.visited !== this.soak.subjects.get("server").url)
      throw new Error("the server has another address");
    const plan = this.random.weighted(plans);
    const demo = this.random.chance(0.02);
    this.#doing = demo ? "the demo" : plan.join(" on ");
    if (demo) await this.#demo();
    else await this.#run(...plan, this.random.whole(0, 3));
    if (this.complaints.length > 0)
      throw new Error(`the page complains: ${this.complaints.splice(0).join("; ")}`);
    await this.#measure();
  }

  /** As a visitor does it; rejects with what the page says when it did not run. */
  async run(model, engine, sample) {
    const { page } = this;
    const timeout = 120_000;
    if ((await page.locator("#model").inputValue()) !== model) {
      await page.locator("#model").selectOption(model, { timeout });
      await page.waitForFunction(() => !document.getElementById("sample-field").hidden, null, { timeout });
    }
    await page.locator("#engine").selectOption(engine, { timeout });
    await page.locator("#sample").fill(String(sample));
    await page.locator("#start:enabled").click({ timeout });
    await page.waitForFunction(
      () => {
        const text = (id) => document.getElementById(id).textContent;
        const ended = !document.getElementById("start").disabled;
        return ended && (text("sent") || !document.getElementById("error").hidden);
      },
      null,
      { timeout },
    );
    if (await page.locator("#error").isVisible())
      throw new Error(`${model} on ${engine}: ${await page.locator("#error").innerText()}`);
    return page.locator("#sent").innerText();
  }

  async #run(model, engine, sample) {
    const sent = await this.run(model, engine, sample);
    const file = /^Sent to the PC: (.*)$/.exec(sent)?.[1];
    if (!file) throw new Error(`${model} on ${engine}: ${sent}`);
    if (!existsSync(file)) throw new Error(`${file}, which the page says it sent, is not there`);
    const values = [...readSafetensors(file).tensors].map(([name, { bytes }]) => `${name} ${sha256(bytes)}`);
    const digest = sha256(values.sort().join("\n"));
    const kind = `${model} on ${engine}, sample ${sample}`;
    if (!this.#seen.has(kind)) this.#seen.set(kind, digest);
    else if (this.#seen.get(kind) !== digest) throw new Error(`${kind}: other values than the first time`);
    if (this.random.chance(0.1)) this.soak.results.keep(file);
    else rmSync(file);
  }

  /** The demo on the screens, by its command. */
  async #demo() {
    const { page } = this;
    await page.locator("#screens-size").click();
    try {
      await page.locator("#screens").focus();
      await page.keyboard.press("Control+k");
      await page.waitForTimeout(300);
      await page.keyboard.type("run the demo", { delay: 15 });
      await page.waitForTimeout(300);
      await page.keyboard.press("Enter");
      await page.waitForTimeout(1000);
      const idle = () => document.getElementById("screens").dataset.busy === "false";
      await page.waitForFunction(idle, null, { timeout: 120_000 });
      const { error, targets } = await page.evaluate(() => ({
        ...document.getElementById("screens").dataset,
      }));
      if (error || targets !== "3") throw new Error(`the demo: ${targets} targets, ${error}`);
    } finally {
      await page.locator("#screens-size").click({ timeout: 5000 });
    }
  }

  /** What only the page knows; each costs a collection of garbage, so that it is not done after every run. */
  async #measure() {
    if (this.soak.now - this.#measured < 8) return;
    this.#measured = this.soak.now;
    await this.devtools.send("HeapProfiler.collectGarbage");
    const { metrics } = await this.devtools.send("Performance.getMetrics");
    this.#heap = metrics.find(({ name }) => name === "JSHeapUsedSize").value;
    this.probed = await this.page.evaluate(() => globalThis.soakProbe());
    // They end a moment after the run.
    const workers = () => this.page.workers().map((worker) => worker.url());
    await until(() => workers().length === 0, `the workers of ${this.#doing} to end`).catch((error) => {
      throw Object.assign(error, { log: workers().join("\n") });
    });
    this.#profileBytes = folderSize(this.profile).bytes;
  }

  async end() {
    await this.#close();
  }
}
