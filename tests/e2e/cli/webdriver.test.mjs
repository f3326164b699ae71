// --webdriver with WebKitGTK's own driver, and what is said of a wrong address, name or file. Against a
// driver that only says what the test wants: tests/native/browser/{web_driver,webdriver_session}_test.cpp.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { asset, run, start, temporaryFolder, traceDigests, until } from "../support.mjs";
import {
  browsersOfTheseTests,
  freePort,
  hasProgram,
  startDisplay,
  startWebKitDriver,
} from "../web_drivers.mjs";

const lenet5 = asset("models", "lenet5.onnx");
const env = { DRIFTSCOPE_WEBDRIVER: "", DRIFTSCOPE_CAPABILITIES: "" };
const skip =
  !hasProgram("WebKitWebDriver") || !hasProgram("Xvfb")
    ? "WebKitWebDriver or Xvfb is not here: tools/setup installs them"
    : false;
const strict = "webdriver:MiniBrowser/strict";

test("WebDriver_WithoutAnAddress_SaysHowToGiveOne", () => {
  const { status, stderr } = run(["run", lenet5, "--target", "webdriver:chrome/strict"], { env });
  assert.equal(status, 3);
  assert.match(stderr, /webdriver:chrome: no WebDriver is given: --webdriver URL, or \$DRIFTSCOPE_WEBDRIVER/);
});

test("WebDriver_WrongAddressOrNobodyThere_IsAnErrorWithoutTheKey", async () => {
  const port = await freePort();
  for (const [address, why, exit] of [
    ["anna:s3cret@host", /it has no scheme/, 2],
    ["ftp://anna:s3cret@host", /its scheme is 'ftp'/, 2],
    [
      `http://anna:s3cret@127.0.0.1:${port}/wd/hub`,
      /http:\/\/\*\*\*@127\.0\.0\.1:\d+\/wd\/hub: .*nothing listens/,
      3,
    ],
  ]) {
    const said = run(["run", lenet5, "--target", "webdriver:chrome/strict", "--webdriver", address], { env });
    assert.equal(said.status, exit, said.stderr);
    assert.match(said.stderr, why);
    assert.doesNotMatch(said.stdout + said.stderr, /s3cret/);
  }
});

test("WebDriver_WrongNameFileOrPage_SaysWhatIsExpected", (t) => {
  const file = join(temporaryFolder(t), "browsers.json");
  const fails = (...args) => {
    const { status, stderr } = run(["run", lenet5, "--webdriver", "http://127.0.0.1:9", ...args], { env });
    assert.equal(status, 2, stderr);
    return stderr;
  };
  assert.match(fails("--target", "webdriver/strict"), /which browser\? expected webdriver:NAME\/strict/);
  assert.match(
    fails("--target", "webdriver:lynx/strict"),
    /'lynx' is no browser that has a WebDriver: chrome/,
  );
  assert.match(fails("--target", "webdriver:chrome/nonsense"), /nonsense/);
  writeFileSync(file, '{"pixel8": {"browserName": "chrome"}}');
  const ipad = fails("--target", "webdriver:ipad/strict", "--capabilities", file);
  assert.match(ipad, /browsers\.json: it names no browser 'ipad'; those that it names: 'pixel8'/);
  writeFileSync(file, '{"ipad": "safari"}');
  const wrong = fails("--target", "webdriver:ipad/strict", "--capabilities", file);
  assert.match(wrong, /browsers\.json: 'ipad' is a JSON string; expected an object of names/);
  const page = fails("--target", "webdriver:chrome/strict", "--webdriver-page", "http://pc.example.org");
  assert.match(page, /--webdriver-page: browsers give .* to https and to localhost alone/);
});

test("WebDriver_ModelInMiniBrowser_HasTheBitsOfThePc", { skip }, async (t) => {
  const { url } = await startWebKitDriver(t, await startDisplay(t));
  const folder = temporaryFolder(t);
  const there = join(folder, "there.safetensors");
  const ran = run(["run", lenet5, "--target", strict, "--webdriver", url, "--trace", there], { env });
  assert.equal(ran.status, 0, ran.stderr);
  const here = join(folder, "here.safetensors");
  assert.equal(run(["run", lenet5, "--target", "pc/strict", "--trace", here]).status, 0);
  assert.deepEqual(traceDigests(there), traceDigests(here));
  const compared = run(
    ["compare", lenet5, "--right", `${strict},webdriver:MiniBrowser/fast`, "--fail-on", "fault"],
    {
      env: { ...env, DRIFTSCOPE_WEBDRIVER: url },
    },
  );
  assert.equal(compared.status, 0, compared.stderr);
  assert.match(compared.stdout, /webdriver:MiniBrowser\/fast/);
  await until(() => browsersOfTheseTests("MiniBrowser").length === 0, "the browser's end", 20_000);
});

test("WebDriver_CommandEndedBySignal_EndsItsSession", { skip }, async (t) => {
  const { url } = await startWebKitDriver(t, await startDisplay(t));
  const resnet20 = asset("models", "resnet20.onnx");
  const running = start(["run", resnet20, "--target", strict, "--webdriver", url, "--repeat", "20000"], {
    env,
  });
  await until(() => browsersOfTheseTests("MiniBrowser").length > 0, "a browser");
  await new Promise((resolve) => setTimeout(resolve, 1000));
  running.child.kill("SIGINT");
  await running.done;
  await until(() => browsersOfTheseTests("MiniBrowser").length === 0, "the browser's end", 20_000);
});
