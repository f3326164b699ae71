// --webdriver with a Selenium Grid: a hub and two nodes on addresses of their own, each with WebKitGTK behind
// a relay, the first with Chromium as well. Needs tools/setup --grid.
import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { asset, run, start, temporaryFolder, until } from "../support.mjs";
import {
  browsersOfTheseTests,
  freePort,
  hasProgram,
  isReady,
  startDisplay,
  startProgram,
  startWebKitDriver,
} from "../web_drivers.mjs";

const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "driftscope");
const jar = join(cache, "selenium-grid-4.48.0", "selenium-server.jar");
const here = existsSync(jar) && hasProgram("java") && hasProgram("WebKitWebDriver") && hasProgram("Xvfb");
const skip = here ? false : "Selenium Grid is not here: tools/setup --grid fetches it";
const hasChromium = hasProgram("chromedriver");
const lenet5 = asset("models", "lenet5.onnx");
const resnet20 = asset("models", "resnet20.onnx");

const chromiumNode = `[[node.driver-configuration]]
display-name = "chromium"
webdriver-executable = "/usr/bin/chromedriver"
stereotype = "{\\"browserName\\": \\"chrome\\"}"
max-sessions = 1
`;

async function startNode(t, grid, number) {
  const webkit = await startWebKitDriver(t, grid.display);
  const config = join(grid.folder, `node${number}.toml`);
  writeFileSync(
    config,
    `[node]
detect-drivers = false
selenium-manager = false
${number === 2 && hasChromium ? chromiumNode : ""}[relay]
url = "${webkit.url}"
status-endpoint = "/status"
configs = ["1", "{\\"browserName\\": \\"MiniBrowser\\"}"]
`,
  );
  const host = `127.0.0.${number}`;
  const port = await freePort();
  const args = ["-jar", jar, "node", "--config", config, "--host", host, "--port", `${port}`, ...grid.bus];
  const node = startProgram(t, "java", args, grid.display);
  return { uri: `http://${host}:${port}`, node, driver: webkit.driver };
}

async function startGrid(t) {
  const grid = { folder: temporaryFolder(t), display: await startDisplay(t) };
  const [port, publish, subscribe] = [await freePort(), await freePort(), await freePort()];
  grid.bus = ["--publish-events", `tcp://127.0.0.1:${publish}`];
  grid.bus.push("--subscribe-events", `tcp://127.0.0.1:${subscribe}`);
  grid.url = `http://127.0.0.1:${port}`;
  startProgram(t, "java", ["-jar", jar, "hub", "--host", "127.0.0.1", "--port", `${port}`, ...grid.bus]);
  await until(isReady(grid.url), "the hub", 60_000);
  grid.nodes = [await startNode(t, grid, 2), await startNode(t, grid, 3)];
  grid.status = async () => (await (await fetch(`${grid.url}/status`)).json()).value.nodes ?? [];
  const ready = async () => (await grid.status()).filter((node) => node.availability === "UP").length === 2;
  await until(ready, "both nodes", 120_000);
  // The node that has a session now.
  grid.busy = async () => {
    const node = (await grid.status()).find(({ slots }) => slots.some(({ session }) => session));
    return node && grid.nodes.find(({ uri }) => uri === (node.uri ?? node.externalUri));
  };
  return grid;
}

test("Grid_SeveralTargets_AreRunAndTheirSessionsEnded", { skip }, async (t) => {
  const grid = await startGrid(t);
  const file = join(grid.folder, "browsers.json");
  writeFileSync(
    file,
    JSON.stringify({
      webkit: { browserName: "MiniBrowser" },
      chrome: { browserName: "chrome", "goog:chromeOptions": { args: ["--headless=new", "--no-sandbox"] } },
    }),
  );
  const targets = ["webdriver:webkit/strict", "webdriver:webkit/fast"];
  if (hasChromium) targets.push("webdriver:chrome/strict", "webdriver:chrome/fast");
  const args = ["compare", lenet5, "--right", targets.join(","), "--fail-on", "fault"];
  const compared = run([...args, "--webdriver", grid.url, "--capabilities", file], { timeout: 300_000 });
  assert.equal(compared.status, 0, compared.stderr);
  for (const target of targets) assert.ok(compared.stdout.includes(target), compared.stdout);
  await until(async () => !(await grid.busy()), "the end of all sessions");
  await until(() => browsersOfTheseTests("MiniBrowser").length === 0, "the browsers' end");
});

test("Grid_MoreCommandsThanBrowsers_WaitInItsQueue", { skip }, async (t) => {
  const grid = await startGrid(t);
  const args = ["run", lenet5, "--target", "webdriver:MiniBrowser/strict", "--webdriver", grid.url];
  const ended = await Promise.all([1, 2, 3, 4].map(() => start(args).done));
  for (const { status, stderr } of ended) assert.equal(status, 0, stderr);
});

test("Grid_NodeKilledInMidRun_TheRunIsBegunOnceMoreOnTheOther", { skip }, async (t) => {
  const grid = await startGrid(t);
  const target = ["--target", "webdriver:MiniBrowser/strict", "--webdriver", grid.url];
  const running = start(["run", resnet20, ...target, "--repeat", "1000"]);
  const first = await until(grid.busy, "a session");
  await new Promise((resolve) => setTimeout(resolve, 4000));
  first.node.end();
  first.driver.end();
  const other = async () => {
    const busy = await grid.busy();
    return busy && busy !== first;
  };
  await until(other, "a session on the other node", 180_000);
  const { status, stderr } = await running.done;
  assert.equal(status, 0, stderr);
});
