// Every shader that the plans of the GPU engines can ask for compiles in the browsers, through the devices of
// the page (web/device), on drivers that compute on the CPU where there is no GPU.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { chromium } from "playwright-core";

import { openIn } from "../../web/page/other_browsers.mjs";
import { staticHost } from "../../web/page/static_host.mjs";
import { builtFile, root, run, temporaryFolder } from "../support.mjs";

const sources = {};
before(() => {
  const folder = temporaryFolder({ after });
  const written = run(["--no-skip", "--test-case=Gpu_Variants_AreWrittenForBrowsers"], {
    program: builtFile(process.env.DRIFTSCOPE_PRESET ?? "native", "tests", "driftscope_native_tests"),
    env: { DRIFTSCOPE_SHADERS: folder },
    timeout: 600_000,
  });
  assert.equal(written.status, 0, written.stdout);
  for (const api of ["webgpu", "webgl"]) sources[api] = readFileSync(join(folder, `${api}.json`));
});

/** As openIn, with the arguments of native/browser/kinds/chrome.cpp: resolves with what ended it. */
async function openChromium(t, url) {
  const browser = await chromium.launch({
    executablePath: process.env.DRIFTSCOPE_CHROME ?? "/usr/bin/chromium",
    args: [
      "--no-sandbox",
      "--enable-unsafe-webgpu",
      "--use-webgpu-adapter=swiftshader",
      "--enable-features=Vulkan",
      "--enable-unsafe-swiftshader",
    ],
  });
  t.after(() => browser.close());
  const page = await browser.newPage();
  const ended = new Promise((resolve) => {
    browser.on("disconnected", () => resolve("disconnected"));
    page.on("crash", () => resolve("the page crashed"));
  });
  await page.goto(url);
  return ended;
}

for (const [browser, api] of [
  ["chrome", "webgl"],
  ["chrome", "webgpu"],
  ["firefox", "webgl"],
  ["firefox", "webgpu"],
  ["safari", "webgl"],
])
  test(`EveryShader_OfThePlans_CompilesIn_${browser}/${api}`, async (t) => {
    const host = await staticHost(t);
    const device = join(root, "web", "device");
    for (const name of readdirSync(device).filter((file) => file.endsWith(".mjs")))
      host.files.set(name, readFileSync(join(device, name)));
    host.files.set("compile.mjs", readFileSync(join(root, "tests", "e2e", "shaders", "compile.mjs")));
    host.files.set(`${api}.json`, sources[api]);
    host.files.set("shaders.html", '<!doctype html><script type="module" src="compile.mjs"></script>');
    const url = `${host.url}shaders.html?api=${api}`;
    const ended = browser === "chrome" ? openChromium(t, url) : openIn(t, browser, url);
    const gone = ended.then((how) => assert.fail(`the browser ended by itself: ${how}`));
    const { error, wrong, compiled, device: name } = JSON.parse(await Promise.race([host.posted, gone]));
    assert.equal(error, undefined);
    assert.deepEqual(
      wrong.map(({ file, message }) => `${file}: ${message}`),
      [],
      wrong[0]?.code,
    );
    assert.ok(compiled > 500);
    t.diagnostic(`${compiled} shaders on ${name}`);
  });
