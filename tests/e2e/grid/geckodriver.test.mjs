// --webdriver with geckodriver. Needs tools/setup --grid.
import assert from "node:assert/strict";
import { test } from "node:test";
import { asset, run } from "../support.mjs";
import { startDisplay } from "../web_drivers.mjs";
import { open, startLongRun, tryDriver } from "./drivers.mjs";
import { firefox, hasFirefox, startGeckoDriver } from "./programs.mjs";

// To an address that is refused, also for pages of this machine.
const elsewhere = structuredClone(firefox);
Object.assign(elsewhere["moz:firefoxOptions"].prefs, {
  "network.proxy.type": 1,
  "network.proxy.http": "127.0.0.1",
  "network.proxy.http_port": 9,
  "network.proxy.allow_hijacking_localhost": true,
  "network.proxy.no_proxies_on": "",
});

const kind = {
  name: "GeckoDriver",
  browser: "firefox",
  process: "firefox",
  page: "-isForBrowser",
  capabilities: firefox,
  elsewhere,
  open: async (t) => startGeckoDriver(t, await startDisplay(t)),
  skip: hasFirefox ? false : "geckodriver is not here: tools/setup --grid builds it",
};

tryDriver(kind);

test("GeckoDriver_SecondCommand_IsToldThatTheBrowserIsTaken", { skip: kind.skip }, async (t) => {
  const it = await open(t, kind);
  const running = await startLongRun(it, "webdriver:firefox/strict", 20_000);
  const options = ["--target", "webdriver:firefox/strict", ...it.options];
  const refused = run(["run", asset("models", "lenet5.onnx"), ...options]);
  assert.equal(refused.status, 3, refused.stderr);
  assert.match(refused.stderr, /its driver says 'session not created: Session is already started'/);
  running.child.kill("SIGINT");
  await running.done;
  await it.noBrowser();
});
