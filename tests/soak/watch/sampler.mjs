// Reads every curve every two seconds and writes samples.csv as it goes.
import { appendFileSync, existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { folderSize } from "./folders.mjs";
import { descriptors, processesOf, treeOf } from "./procfs.mjs";
import { judge } from "./trend.mjs";

const everyMs = 2000;

export class Sampler {
  #file;
  #curves;

  constructor(soak) {
    this.soak = soak;
    const whole = { life: 1 };
    // Of the programs that go on; those of the command line are looked at after each run.
    const lasting = ["server", "window"].map((name) => join(soak.work, name, "tmp")).filter(existsSync);
    const temporaryEntries = () => lasting.reduce((sum, folder) => sum + readdirSync(folder).length, 0);
    const own = [
      { name: "processes of all", kind: "count", read: () => processesOf(soak.work).length },
      { name: "zombies", kind: "count", read: () => treeOf(process.pid).zombies.length },
      { name: "temporary entries", kind: "count", read: temporaryEntries },
      { name: "files of all, on disk", kind: "collected", read: () => folderSize(soak.work).bytes },
      { name: "soak's descriptors", kind: "count", read: () => descriptors(process.pid) },
    ];
    this.#curves = [
      ...[...soak.subjects.values()].flatMap((subject) =>
        subject.curves.map((one) => ({ ...one, owner: subject })),
      ),
      ...own.map((one) => ({ ...one, owner: whole })),
    ].map((one) => ({ ...one, samples: [] }));
    this.#file = join(soak.out, "samples.csv");
    const subjects = [...soak.subjects.keys()];
    writeFileSync(
      this.#file,
      [
        "seconds",
        ...subjects.flatMap((name) => [`${name} runs`, `${name} starts`, `${name} failures`]),
        "faults",
        "findings",
        ...this.#curves.map(({ name, kind }) => (kind === "count" ? name : `${name}, bytes`)),
      ]
        .map((name) => (name.includes(",") ? `"${name}"` : name))
        .join(",") + "\n",
    );
  }

  sample() {
    const t = this.soak.now;
    const values = this.#curves.map(({ read, owner, samples }) => {
      const value = read();
      if (value !== undefined && Number.isFinite(value)) samples.push({ t, life: owner.life, value });
      return value ?? "";
    });
    const subjects = [...this.soak.subjects.values()];
    const counts = subjects.flatMap(({ runs, life, failures }) => [runs, life, failures]);
    const row = [t.toFixed(1), ...counts, this.soak.faults.length, this.soak.findings.length, ...values];
    appendFileSync(this.#file, row.join(",") + "\n");
  }

  async loop() {
    while (!this.soak.ended) {
      this.sample();
      await this.soak.sleep(everyMs);
    }
  }

  /** [{name, kind, samples, judged}] of curves that were seen. */
  judged() {
    return this.#curves
      .filter(({ samples }) => samples.length > 0)
      .map(({ name, kind, samples }) => ({ name, kind, samples, judged: judge(samples, kind) }));
  }
}
