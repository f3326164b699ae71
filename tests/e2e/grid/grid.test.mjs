// --webdriver with a Selenium Grid of a hub and two nodes. Needs tools/setup --grid.
import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { asset, run, start, until } from "../support.mjs";
import { browsersOfTheseTests, hasProgram } from "../web_drivers.mjs";
import { startGrid } from "./grid.mjs";
import { chromium, firefox, hasChromium, hasDisplay, hasFirefox, jar } from "./programs.mjs";

const here = existsSync(jar) && hasProgram("java") && hasProgram("WebKitWebDriver") && hasDisplay;
const skip = here ? false : "Selenium Grid is not here: tools/setup --grid fetches it";
const lenet5 = asset("models", "lenet5.onnx");
const resnet20 = asset("models", "resnet20.onnx");

// Each with WebKitGTK behind a relay, the first with the others as well.
const lists = [["MiniBrowser"], ["MiniBrowser"]];
if (hasChromium) lists[0].push("chrome");
if (hasFirefox) lists[0].push("firefox");

test("Grid_SeveralTargets_AreRunAndTheirSessionsEnded", { skip }, async (t) => {
  const grid = await startGrid(t, lists);
  const file = join(grid.folder, "browsers.json");
  writeFileSync(file, JSON.stringify({ webkit: { browserName: "MiniBrowser" }, chrome: chromium, firefox }));
  const targets = ["webdriver:webkit/strict", "webdriver:webkit/fast"];
  if (hasChromium) targets.push("webdriver:chrome/strict", "webdriver:chrome/fast");
  if (hasFirefox) targets.push("webdriver:firefox/strict", "webdriver:firefox/webgl");
  const args = ["compare", lenet5, "--right", targets.join(","), "--fail-on", "fault"];
  const compared = run([...args, "--webdriver", grid.url, "--capabilities", file], { timeout: 300_000 });
  assert.equal(compared.status, 0, compared.stderr);
  for (const target of targets) assert.ok(compared.stdout.includes(target), compared.stdout);
  assert.doesNotMatch(compared.stdout, / failed: /);
  await until(async () => !(await grid.busy()), "the end of all sessions");
  for (const name of ["MiniBrowser", "chromium", "firefox"])
    await until(() => browsersOfTheseTests(name).length === 0, `the end of ${name}`);
});

test("Grid_MoreCommandsThanBrowsers_WaitInItsQueue", { skip }, async (t) => {
  const grid = await startGrid(t, lists);
  const args = ["run", lenet5, "--target", "webdriver:MiniBrowser/strict", "--webdriver", grid.url];
  const ended = await Promise.all([1, 2, 3, 4].map(() => start(args).done));
  for (const { status, stderr } of ended) assert.equal(status, 0, stderr);
});

for (const [name, browser, missing] of [
  ["WebKit", "MiniBrowser", skip],
  [
    "Firefox",
    "firefox",
    skip || (hasFirefox ? false : "geckodriver is not here: tools/setup --grid builds it"),
  ],
])
  test(`Grid_NodeOf${name}KilledInMidRun_TheRunIsBegunOnceMoreOnTheOther`, { skip: missing }, async (t) => {
    const grid = await startGrid(t, [[browser], [browser]]);
    const target = ["--target", `webdriver:${browser}/strict`, "--webdriver", grid.url];
    const running = start(["run", resnet20, ...target, "--repeat", "1000"]);
    const first = await until(grid.busy, "a session");
    await until(() => /: running$/m.test(running.output.stderr), "the run", 120_000);
    first.node.end();
    first.driver?.end();
    for (const pid of browsersOfTheseTests(browser)) process.kill(Number(pid), "SIGKILL");
    const other = async () => {
      const busy = await grid.busy();
      return busy && busy !== first;
    };
    await until(other, "a session on the other node", 180_000);
    const { status, stderr } = await running.done;
    assert.equal(status, 0, stderr);
    assert.match(stderr, /once more, as its browser was lost/);
    await until(() => browsersOfTheseTests(browser).length === 0, "the browsers' end");
  });
