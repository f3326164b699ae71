// What all parts of a soak share: its folders, its clock, its log, its findings, the results to keep.
import { appendFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { builtFile, driftscope, mark } from "../e2e/support.mjs";
import { Random } from "./random.mjs";
import { Results } from "./results.mjs";

const started = Date.now();

export class Soak {
  findings = [];
  faults = []; // done: {t, name, text}
  striking = new Set(); // names of faults that are going on
  subjects = new Map();
  ended = false;
  program = driftscope;
  window = `${driftscope}-gui`;
  #children = new Set();
  #wake = new Set();
  #resolveEnd;
  #end = new Promise((resolve) => (this.#resolveEnd = resolve));

  constructor(options) {
    this.options = options;
    this.out = options.out ?? builtFile("soak", String(options.seed));
    mkdirSync(this.out, { recursive: true });
    this.work = mark; // it identifies our processes
    this.results = new Results(join(this.work, "results"));
    this.random = (name) => new Random(options.seed, name);
    this.environment = {
      ...process.env,
      DRIFTSCOPE_SITE: process.env.DRIFTSCOPE_SITE ?? builtFile("web", "site"),
      NO_COLOR: "1",
    };
    writeFileSync(join(this.out, "events.log"), "");
  }

  /** Seconds since the start; of the monotonic clock. */
  get now() {
    return performance.now() / 1000;
  }

  /** A folder of its own for a part, with a folder for temporary files in it. */
  folder(name) {
    const folder = join(this.work, name);
    mkdirSync(join(folder, "tmp"), { recursive: true });
    return folder;
  }

  event(text) {
    const line = `${this.now.toFixed(1).padStart(8)} s  ${text}\n`;
    appendFileSync(join(this.out, "events.log"), line);
    if (this.options.verbose) process.stderr.write(line);
  }

  /** Something abnormal; `log` is an excerpt of what was printed. */
  find(subject, what, log = "") {
    const finding = {
      t: Number(this.now.toFixed(1)),
      when: new Date(started + 1000 * this.now).toISOString(),
      subject,
      what,
      during: [...this.striking],
      lastFault: this.faults.at(-1) ?? null,
      log: log.slice(-4000),
    };
    this.findings.push(finding);
    this.event(
      `FOUND  ${subject}: ${what}${log ? `\n${log.slice(-2000).replace(/^/gm, "          | ")}` : ""}`,
    );
  }

  /** A process (group) to be ended with the soak. */
  own(child) {
    this.#children.add(child);
    child.once("exit", () => this.#children.delete(child));
    return child;
  }

  /** Resolves after so long, or at the end. */
  sleep(milliseconds) {
    if (this.ended) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.#wake.delete(done);
        resolve();
      };
      const timer = setTimeout(done, milliseconds);
      this.#wake.add(done);
    });
  }

  untilEnded() {
    return this.#end;
  }

  end() {
    this.ended = true;
    this.#resolveEnd();
    for (const wake of [...this.#wake]) wake();
  }

  /** The processes that are still there are ended with their groups. */
  killChildren() {
    for (const child of this.#children)
      try {
        process.kill(-child.pid, "SIGKILL");
      } catch {
        child.kill("SIGKILL");
      }
  }

  removeWork() {
    rmSync(this.work, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}
