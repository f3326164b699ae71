// What a Selenium Grid does in a minute: commands that each run LeNet-5 in a browser of its own, N at a time,
// on one and on two nodes with one chromedriver each. Prints and asserts nothing. Needs tools/setup --grid.
//
//   node tests/bench/grid.mjs [COMMANDS [SECONDS]]
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { asset, start } from "../e2e/support.mjs";
import { startGrid } from "../e2e/grid/grid.mjs";
import { chromium } from "../e2e/grid/programs.mjs";

const commands = Number(process.argv[2] ?? 4);
const seconds = Number(process.argv[3] ?? 60);
const lenet5 = asset("models", "lenet5.onnx");

const last = [];
const end = () => last.splice(0).forEach((action) => action());
process.once("SIGINT", () => {
  end();
  process.exit(130);
});

for (const nodes of [1, 2]) {
  const t = { after: (action) => last.push(action) };
  try {
    const grid = await startGrid(
      t,
      Array.from({ length: nodes }, () => ["chrome"]),
    );
    const file = join(grid.folder, "browsers.json");
    writeFileSync(file, JSON.stringify({ chrome: chromium }));
    const options = ["--webdriver", grid.url, "--capabilities", file];
    const begun = performance.now();
    const times = [];
    const failures = [];
    const loop = async () => {
      while (performance.now() - begun < seconds * 1000) {
        const from = performance.now();
        const { status, stderr } = await start([
          "run",
          lenet5,
          "--target",
          "webdriver:chrome/strict",
          ...options,
        ]).done;
        if (status === 0) times.push((performance.now() - from) / 1000);
        else failures.push(stderr);
      }
    };
    await Promise.all(Array.from({ length: commands }, loop));
    const took = (performance.now() - begun) / 1000;
    const middle = times.toSorted((a, b) => a - b)[times.length >> 1] ?? NaN;
    console.log(
      `${nodes} node(s), ${commands} commands at a time: ${times.length} jobs in ${took.toFixed(0)} s, ` +
        `${((times.length * 60) / took).toFixed(1)} a minute; one takes ${middle.toFixed(1)} s (median)`,
    );
    for (const failure of failures) console.log(failure);
  } finally {
    end();
  }
}
process.exit(0);
