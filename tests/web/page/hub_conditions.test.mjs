// What disturbs a run on a device of a hub: that it is seen, recorded and said.
import assert from "node:assert/strict";
import path from "node:path";
import { after, test } from "node:test";

import { readSafetensors, temporaryFolder } from "../../e2e/support.mjs";
import { joinHub, lenet5, phone, resnet20, startHub } from "./hub_support.mjs";
import { closeBrowser } from "./support.mjs";

after(closeBrowser);

/** A phone whose battery is low, whose screen may lock, and whose page is in the background from now on. */
const trouble = (page) =>
  page.addInitScript(() => {
    navigator.getBattery = async () => ({ level: 0.12, charging: false });
    navigator.wakeLock.request = async () => {
      throw new DOMException("", "NotAllowedError");
    };
  });

test("Hub_Conditions_AreRecordedAndSaid", async (t) => {
  const hub = await startHub(t);
  const { page } = await joinHub(t, hub, "phone", { ...phone, prepare: trouble });
  await page.evaluate(() => {
    Object.defineProperty(document, "hidden", { get: () => true });
    document.dispatchEvent(new Event("visibilitychange"));
  });
  const trace = path.join(temporaryFolder(t), "trace.safetensors");
  const ran = await hub.command(["run", resnet20, "--target", "remote:phone/fast", "--trace", trace]);
  assert.equal(ran.status, 0, ran.stderr);
  assert.match(ran.stdout, /in the background, or the screen off, for \d+\.\d s of \d+\.\d s/);
  assert.match(ran.stdout, /battery 12 %, discharging/);
  const { conditions, browser, renderer } = JSON.parse(readSafetensors(trace).metadata.run);
  assert.equal(conditions.battery, 0.12);
  assert.ok(conditions.hidden_ms > 0 && conditions.hidden_ms <= conditions.watched_ms);
  // The whole version, and what draws.
  assert.match(browser, /^Chrome \d+\.\d+\.\d+\.[1-9]\d*$/);
  assert.ok(renderer.length > 0);
});

test("Hub_ScreenThatMayLock_IsSaid", async (t) => {
  const hub = await startHub(t);
  await joinHub(t, hub, "phone", { ...phone, prepare: trouble });
  const ran = await hub.command(["run", lenet5, "--target", "remote:phone/strict"]);
  assert.equal(ran.status, 0, ran.stderr);
  assert.match(ran.stdout, /refused to keep the screen on/);
});

test("Hub_PageThatStoodStill_IsSaid", async (t) => {
  const hub = await startHub(t);
  const { page } = await joinHub(t, hub, "phone", phone);
  const running = hub.begin(["run", resnet20, "--target", "remote:phone/strict", "--repeat", "300"]);
  await page.locator("#device-state").filter({ hasText: "Running" }).waitFor();
  await page.evaluate(() => {
    const end = performance.now() + 6000;
    while (performance.now() < end);
  });
  const { status, stdout, stderr } = await running.done;
  assert.equal(status, 0, stderr);
  assert.match(stdout, /the page stood still for \d+\.\d s of \d+\.\d s/);
});
