// --webdriver with Appium: its fake driver, which has sessions and capabilities but opens no page, and its
// driver of Chromium on this machine, which does. Needs tools/setup --grid.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { asset, run, start, temporaryFolder, traceDigests, until } from "../support.mjs";
import { browsersOfTheseTests } from "../web_drivers.mjs";
import { chromium, hasAppium, hasChromium, startAppium } from "./programs.mjs";

const lenet5 = asset("models", "lenet5.onnx");
const resnet20 = asset("models", "resnet20.onnx");
const skip = hasAppium ? false : "Appium is not here: tools/setup --grid fetches it";
const skipChromium =
  skip || (hasChromium ? false : "chromedriver is not here: tools/setup --grid installs it");

async function open(t, path) {
  const { url, driver } = await startAppium(t, path);
  const folder = temporaryFolder(t);
  const app = join(folder, "app.xml");
  const file = join(folder, "browsers.json");
  writeFileSync(app, "<app><MockWebView><html><head/><body/></html></MockWebView></app>");
  const fake = {
    platformName: "Fake",
    browserName: "fakeBrowser",
    "appium:automationName": "Fake",
    "appium:deviceName": "Fake Phone",
    "appium:app": app,
  };
  const give = (capabilities) => writeFileSync(file, JSON.stringify({ phone: capabilities }));
  const options = ["--webdriver", url, "--capabilities", file];
  const noBrowser = () =>
    until(() => browsersOfTheseTests("chromium").length === 0, "the browser's end", 20_000);
  t.after(() => browsersOfTheseTests("chromium").forEach((pid) => process.kill(Number(pid), "SIGKILL")));
  return { folder, fake, give, options, url, noBrowser, log: () => driver.text };
}

const fails = ({ options }) => {
  const { status, stderr } = run(["run", lenet5, "--target", "webdriver:phone/strict", ...options]);
  assert.equal(status, 3, stderr);
  return stderr;
};

test("Appium_DriverThatOpensNoPage_IsAnErrorAndItsSessionDeleted", { skip }, async (t) => {
  for (const path of ["", "/wd/hub"]) {
    const it = await open(t, path);
    it.give(it.fake);
    const said = fails(it);
    assert.match(
      said,
      /webdriver:phone \(fakeBrowser on Fake Phone, Fake \(WebDriver\)\) could not open the page/,
    );
    assert.match(said, /its driver says 'unknown method: Method has not yet been implemented'/);
    await until(() => /<-- DELETE .*\/session\/[\w-]+ 200/.test(it.log()), "the session's end", 20_000);
  }
});

test("Appium_Capabilities_WhatItMissesIsSaid", { skip }, async (t) => {
  const it = await open(t);
  const { "appium:automationName": automation, "appium:app": app, ...rest } = it.fake;
  for (const [capabilities, why] of [
    [
      { browserName: "chrome" },
      /'invalid argument: 'automationName' is required to be present; 'platformName'/,
    ],
    [
      { ...rest, automationName: automation },
      /should have a vendor prefix\..* did not have one: automationName'/,
    ],
    [{ ...rest, "appium:automationName": automation }, /'app' is required to be present'/],
    [
      { ...rest, "appium:app": app, "appium:automationName": "Nothing" },
      /Could not find a driver for automationName 'Nothing' and platformName 'Fake'/,
    ],
  ]) {
    it.give(capabilities);
    assert.match(fails(it), why);
  }
  it.give(it.fake);
  const elsewhere = ["--webdriver", `${it.url}/wd/hub`, ...it.options.slice(2)];
  assert.match(fails({ options: elsewhere }), /its driver says 'unknown command: /);
});

test("Appium_ChromiumOfThisMachine_HasTheBitsOfThePc", { skip: skipChromium }, async (t) => {
  const it = await open(t);
  it.give({
    ...chromium,
    platformName: "linux",
    "appium:automationName": "Chromium",
    "appium:executable": "/usr/bin/chromedriver",
  });
  const [here, there] = ["here", "there"].map((name) => join(it.folder, `${name}.safetensors`));
  const ran = run(["run", lenet5, "--target", "webdriver:phone/strict", "--trace", there, ...it.options]);
  assert.equal(ran.status, 0, ran.stderr);
  assert.equal(run(["run", lenet5, "--target", "pc/strict", "--trace", here]).status, 0);
  assert.deepEqual(traceDigests(there), traceDigests(here));
  await it.noBrowser();

  const args = ["run", resnet20, "--target", "webdriver:phone/strict", "--repeat", "20000", ...it.options];
  const running = start(args);
  await until(() => /: running$/m.test(running.output.stderr), "the run", 120_000);
  running.child.kill("SIGINT");
  assert.equal((await running.done).signal, "SIGINT");
  await it.noBrowser();
});
