// One window (driftscope-gui under Xvfb): the demo on the PC and in Chromium, every view, a trace opened,
// again and again by its script. The summary that it saves must be that of the first time.
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { asset } from "../../e2e/support.mjs";
import { launch, until } from "../programs.mjs";
import { Subject } from "../subject.mjs";
import { descriptors, descriptorsText, pss, threads, treeOf } from "../watch/procfs.mjs";

const cycles = 20_000;
const views = ["Layers", "Drift", "Tensor", "Time", "Memory", "Graph"];

export class Window extends Subject {
  #seen = new Map(); // name of what is saved → its text

  constructor(soak) {
    super(soak, "window");
    this.folder = soak.folder("window");
    this.saved = join(this.folder, "saved");
    mkdirSync(this.saved, { recursive: true });
    const of = (read) => () => (this.pid ? read(this.pid) : undefined);
    this.curves = [
      { name: "window memory", kind: "bytes", read: of(pss) },
      { name: "window descriptors", kind: "count", read: of(descriptors) },
      { name: "window threads", kind: "count", read: of(threads) },
      { name: "window zombies", kind: "count", read: of((pid) => treeOf(pid).zombies.length) },
    ];
  }

  async start() {
    const trace = join(this.folder, "opened.safetensors");
    writeFileSync(trace, this.soak.trace);
    const script = join(this.folder, "script.txt");
    const cycle = [
      "demo",
      "idle",
      ...views.flatMap((view) => [`view ${view}`, "frames 2"]),
      "view Summary",
      "key Ctrl+S",
      `open ${trace}`,
      "idle",
      "view Summary",
      "key Ctrl+S",
    ];
    writeFileSync(script, Array(cycles).fill(cycle.join("\n")).join("\n") + "\n");
    this.script = script;
    await this.#open();
  }

  async #open() {
    for (const name of readdirSync(this.saved)) rmSync(join(this.saved, name), { recursive: true });
    await this.#startDisplay();
    const home = join(this.folder, "home");
    mkdirSync(home, { recursive: true });
    this.run = launch(
      this.soak,
      [
        "--size",
        "1280x800",
        "--scale",
        "1",
        "--save",
        this.saved,
        "--script",
        this.script,
        "--timeout",
        "30",
      ],
      {
        folder: this.folder,
        program: this.soak.window,
        limit: 1 << 30,
        env: {
          HOME: home,
          DISPLAY: this.display,
          LIBGL_ALWAYS_SOFTWARE: "1",
          DRIFTSCOPE_ASSETS: asset(),
          // The demo in Chromium alone is quick enough for many runs.
          DRIFTSCOPE_FIREFOX: "/nonexistent",
          DRIFTSCOPE_SAFARI: "/nonexistent",
        },
      },
    );
    this.pid = this.run.child.pid;
    this.life += 1;
    this.run.child.once("exit", () => (this.pid = undefined));
    this.soak.event(`window: process ${this.pid} on ${this.display}`);
  }

  async #startDisplay() {
    if (this.xvfb && this.xvfb.exitCode === null && this.xvfb.signalCode === null) return;
    const server = spawn(
      "Xvfb",
      ["-displayfd", "1", "-screen", "0", "1600x1000x24", "-nolisten", "tcp", "-noreset"],
      {
        detached: true,
        stdio: ["ignore", "pipe", "ignore"],
      },
    );
    this.xvfb = this.soak.own(server);
    let number = "";
    server.stdout.on("data", (data) => (number += data));
    await until(() => number.includes("\n"), "Xvfb's display", 30_000);
    this.display = `:${number.trim()}`;
  }

  lastWords() {
    return `${this.run.output.stderr}\n${this.pid ? descriptorsText(this.pid) : "the window has ended"}`;
  }

  async recover() {
    if (this.pid) return;
    // What the killed program left is the next one's to remove, but not its browser: that must be gone.
    await this.#open();
  }

  /** The next summary that it saves. */
  async step() {
    const name = await until(
      () => {
        if (!this.pid) throw new Error("the window has ended");
        return readdirSync(this.saved).find((file) => file.endsWith(".csv"));
      },
      "the window's next summary",
      this.limit - 5000,
    );
    const file = join(this.saved, name);
    const text = readFileSync(file, "utf8");
    rmSync(file);
    // Only the demo has counted the right answers of the whole set.
    const kind = /,\d+,\d+$/m.test(text) ? "demo" : "trace";
    if (kind === "demo" && !text.includes("chrome/"))
      throw Object.assign(new Error("the demo lacks its browser"), { log: text });
    if (!this.#seen.has(kind)) this.#seen.set(kind, text);
    else if (this.#seen.get(kind) !== text) {
      const error = new Error(`the summary of the ${kind} is not that of the first time`);
      error.log = `${this.#seen.get(kind)}\n${text}`;
      throw error;
    }
  }

  async end() {
    if (this.pid) {
      this.run.child.kill("SIGTERM"); // a script goes on after the first
      await new Promise((resolve) => setTimeout(resolve, 500)); // pending ones would be one
      this.run.child.kill("SIGTERM");
      await Promise.race([this.run.done, new Promise((resolve) => setTimeout(resolve, 15_000))]);
      if (this.pid) this.soak.find(this.name, "did not end within 15 s of two SIGTERM", this.lastWords());
    }
    this.xvfb?.kill("SIGKILL");
  }
}
