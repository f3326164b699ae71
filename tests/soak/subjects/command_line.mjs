// The command line: run, verify, compare and bench, on the PC and in browsers, one after the other, each in
// a folder of its own. Each must succeed, write what it was asked to, and leave nothing behind.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { asset } from "../../e2e/support.mjs";
import { clearAway, launch, leftBehind } from "../programs.mjs";
import { Subject } from "../subject.mjs";

const model = (name) => asset("models", `${name}.onnx`);
const bench = ["--time", "0.5", "--warm-up", "0.5", "--no-save", "--json", "out.json"];
const compare = ["--repeat", "2", "--json", "out.json", "--report", "out.html"];

// [arguments, files that it writes], weight.
const plans = [
  [[["run", model("lenet5"), "--target", "pc/strict", "--trace", "out.safetensors"], ["out.safetensors"]], 3],
  [[["verify", model("lenet1"), "in.safetensors", "--json", "out.json"], ["out.json"]], 3],
  [
    [
      ["compare", model("lenet5"), "--right", "pc/fast,pc/reference", ...compare],
      ["out.json", "out.html"],
    ],
    3,
  ],
  [
    [
      ["compare", model("lenet5"), "--right", "chrome/strict", ...compare],
      ["out.json", "out.html"],
    ],
    4,
  ],
  [
    [
      ["compare", model("lenet1"), "--right", "firefox/strict", ...compare],
      ["out.json", "out.html"],
    ],
    1,
  ],
  [
    [
      ["compare", model("lenet1"), "--right", "safari/strict", ...compare],
      ["out.json", "out.html"],
    ],
    1,
  ],
  [[["bench", model("lenet1"), "--targets", "pc/strict,chrome/strict", ...bench], ["out.json"]], 2],
];

export class CommandLine extends Subject {
  constructor(soak) {
    super(soak, "command line");
    this.limit = 400_000;
  }

  async step() {
    const [args, files] = this.random.weighted(plans);
    const folder = this.soak.folder("cl");
    writeFileSync(join(folder, "in.safetensors"), this.soak.trace);
    const run = launch(this.soak, [...args, "--quiet"], { folder, limit: 300_000 });
    try {
      const { status, signal, stdout, stderr } = await run.done;
      const fail = (what, log = `${stdout}\n${stderr}`) => {
        throw Object.assign(new Error(`${args.slice(0, 4).join(" ")}: ${what}`), { log });
      };
      if (status !== 0) fail(`exit code ${status ?? signal}`);
      for (const file of files) {
        if (file.endsWith(".json")) JSON.parse(readFileSync(join(folder, file), "utf8"));
        if (this.random.chance(0.2)) this.soak.results.keepCopy(join(folder, file));
      }
      const left = await leftBehind(this.soak, run);
      if (left) fail("leaves something behind", left);
    } finally {
      clearAway(run);
    }
    await this.soak.sleep(this.random.between(0, 500));
  }
}
