// The page of a hub's owner: devices are targets there as on the command line, while they are there.
import assert from "node:assert/strict";
import { after, test } from "node:test";

import { until } from "../../e2e/support.mjs";
import { joinHub, phone, startHub } from "./hub_support.mjs";
import { closeBrowser, openPage, shows } from "./support.mjs";

after(closeBrowser);

const canvas = (page) => page.locator("#screens");
const attribute = (page, name) => canvas(page).getAttribute(`data-${name}`);

/** What the list of targets has, by Ctrl+C in the view Run: [[target, "yes" or "no", detail]]. */
async function listed(page) {
  await page.evaluate(() => delete globalThis.copied);
  await canvas(page).focus();
  await canvas(page).press("Control+c");
  await page.waitForFunction(() => globalThis.copied !== undefined);
  const text = await page.evaluate(() => globalThis.copied);
  return text.split("\n").map((line) => line.split(/\t| {2,}/));
}

async function openOwner(t, hub) {
  const opened = await openPage(t);
  await opened.page.addInitScript(() => {
    if (navigator.clipboard) navigator.clipboard.writeText = async (text) => (globalThis.copied = text);
  });
  await opened.page.goto(hub.url);
  await shows(opened.page, { view: "Run", busy: "false", devices: "" });
  return opened;
}

/** Compares LeNet-5 on these targets; the page comes from elsewhere, so that it starts anew. */
async function compare(page, hub, targets, checks = "") {
  await page.goto("about:blank");
  await page.goto(`${hub.url}#model=lenet5&targets=${targets}&checks=${checks}`);
}

test("HubOwner_Page_ListsDevicesAndComparesOnThem", async (t) => {
  const hub = await startHub(t);
  const { page, complaints } = await openOwner(t, hub);
  const device = await joinHub(t, hub, "phone", phone);
  await shows(page, { devices: "remote:phone" }); // without a reload
  const rows = (await listed(page)).filter(([target]) => target.startsWith("remote:phone/"));
  assert.ok(rows.length > 3, JSON.stringify(rows));
  assert.equal(rows[0][0], "remote:phone/strict");
  assert.equal(rows[0][1], "yes");
  assert.match(rows[0][2], /^Chrome .*: ready/);

  await compare(page, hub, "strict,remote:phone/strict,remote:phone/fast,pc/strict");
  await shows(page, { busy: "false", targets: "4", view: "Layers" });
  assert.equal(await attribute(page, "error"), "");
  assert.equal(await attribute(page, "failed"), "");
  const head = await page.locator("#screens-table thead").textContent();
  assert.match(head, /remote:phone\/strict.*remote:phone\/fast.*pc\/strict/);
  const layers = await page.locator("#screens-table tbody tr").allTextContents();
  assert.equal(layers.length, 13);
  // strict has the same bits everywhere; the second verdict of a row is that of the device.
  for (const layer of layers) assert.match(layer, /= identical.*= identical/, layer);
  // Unasked, as on the command line.
  const foot = await page.locator("#screens-table tfoot").textContent();
  assert.match(foot, /repeated runs.*(all 5 runs agree bit for bit.*){2}/);

  await canvas(page).press("1");
  await shows(page, { view: "Run", devices: "remote:phone" });
  await device.page.click("#device-leave");
  await shows(page, { devices: "" });
  assert.ok((await listed(page)).every(([target]) => !target.startsWith("remote:")));
  assert.deepEqual(complaints, []);
});

test("HubOwner_Memory_IsWatchedOnADevice", async (t) => {
  const hub = await startHub(t);
  const { page } = await openOwner(t, hub);
  await joinHub(t, hub, "phone", phone);
  await compare(page, hub, "remote:phone/fast,strict", "memory");
  await shows(page, { busy: "false", targets: "2" });
  assert.equal(await attribute(page, "failed"), "");
  const foot = await page.locator("#screens-table tfoot").textContent();
  assert.match(foot, /memory\w+ over \d+ runs/);
});

test("HubOwner_WhatDisturbedARun_IsSaid", async (t) => {
  const hub = await startHub(t);
  const { page } = await openOwner(t, hub);
  const prepare = (opened) =>
    opened.addInitScript(() => {
      navigator.getBattery = async () => ({ level: 0.12, charging: false });
    });
  await joinHub(t, hub, "phone", { ...phone, prepare });
  await compare(page, hub, "strict,remote:phone/strict");
  await shows(page, { busy: "false", targets: "2" });
  assert.match(await page.locator("#screens-table tfoot").textContent(), /battery 12 %, discharging/);
});

test("HubOwner_DeviceClosedInTheMiddle_IsAnErrorOfItsTarget", async (t) => {
  const hub = await startHub(t, ["--timeout", "5"]);
  const { page } = await openOwner(t, hub);
  const device = await joinHub(t, hub, "phone", phone);
  // Its result never arrives.
  await device.page.route(/\/api\/jobs\/\w+\/result/, () => {});
  await compare(page, hub, "strict,remote:phone/strict,fast");
  await device.page.locator("#device-state").filter({ hasText: "Running" }).waitFor({ timeout: 60_000 });
  await device.page.close();
  await shows(page, { busy: "false", targets: "2" });
  const failed = await attribute(page, "failed");
  assert.match(failed, /^remote:phone\/strict: .*the device is silent for \d+ s: its screen may be locked/);
  assert.match(failed, /Tried once more, for the outputs alone, it failed too/);
  // It may come back: it stays in the list, as one that is not here.
  await canvas(page).press("1");
  await shows(page, { view: "Run" });
  const silent = () => listed(page).then((rows) => rows.find(([target]) => target === "remote:phone/strict"));
  await until(async () => (await silent())?.[1] === "no", "the device that is not here");
  assert.match((await silent())[2], /silent for/);
});

test("HubOwner_Stop_FreesTheDeviceAtOnce", async (t) => {
  const hub = await startHub(t);
  const { page } = await openOwner(t, hub);
  const device = await joinHub(t, hub, "phone", phone);
  await device.page.route(/\/api\/jobs\/\w+\/result/, () => {});
  await compare(page, hub, "remote:phone/strict");
  await device.page.locator("#device-state").filter({ hasText: "Running" }).waitFor({ timeout: 60_000 });
  await canvas(page).press("Control+.");
  await shows(page, { busy: "false" });
  // Long before the PC would notice that nobody asks.
  const job = async () => (await hub.devices())[0].state;
  await until(async () => (await job()) !== "running", "the end of the job", 10_000);
  await device.page.unroute(/\/api\/jobs\/\w+\/result/);
  await device.page.reload();
  await compare(page, hub, "strict,remote:phone/strict");
  await shows(page, { busy: "false", targets: "2" });
  assert.equal(await attribute(page, "failed"), "");
});
