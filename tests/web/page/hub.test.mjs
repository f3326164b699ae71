// A hub and its devices: Chromium joins by a link as a phone would, and runs what commands give it.
import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import path from "node:path";
import { after, test } from "node:test";

import { readSafetensors, temporaryFolder, until } from "../../e2e/support.mjs";
import { connected, joinHub, lenet5, phone, resnet20, startHub } from "./hub_support.mjs";
import { joinIn } from "./phones.mjs";
import { closeBrowser } from "./support.mjs";

after(closeBrowser);

test("Hub_Device_IsATargetLikeAnyOther", async (t) => {
  const hub = await startHub(t);
  const { page, complaints } = await joinHub(t, hub, "handy-1", phone);
  await page.fill("#device-name", "phone");
  await page.click("#device-form button[type=submit]");
  await until(async () => (await hub.devices())[0]?.target === "remote:phone", "its new name");
  const [device] = await hub.devices();
  assert.equal(device.target, "remote:phone");
  assert.match(device.browser, /^Chrom/);
  assert.equal(device.here, true);
  assert.equal(device.state, "ready");
  assert.match((await hub.command(["devices"])).stdout, /^remote:phone +Chrom/m);

  const folder = temporaryFolder(t);
  const json = path.join(folder, "compare.json");
  const targets = "remote:phone/strict,remote:phone/fast,remote:phone/webgl";
  const compared = await hub.command(["compare", lenet5, "--right", targets, "--json", json]);
  assert.equal(compared.status, 0, compared.stdout + compared.stderr);
  const { right } = JSON.parse(readFileSync(json, "utf8"));
  assert.deepEqual(
    right.map(({ target }) => target),
    targets.split(","),
  );
  // The same bits as on this PC.
  assert.ok(right[0].layers.length > 5);
  assert.ok(right[0].layers.every(({ different_elements }) => different_elements === 0));

  const trace = path.join(folder, "trace.safetensors");
  const ran = await hub.command([
    "run",
    resnet20,
    "--target",
    "remote:phone/fast",
    "--repeat-check",
    "3",
    "--trace",
    trace,
  ]);
  assert.equal(ran.status, 0, ran.stderr);
  const about = JSON.parse(readSafetensors(trace).metadata.run);
  assert.match(about.user_agent, /Mobile|Chrome/);
  assert.match(about.browser_version, /Chrom.* on /);
  assert.equal((await hub.command(["verify", resnet20, trace])).status, 0);
  assert.equal((await hub.devices())[0].state, "ready");
  await page.locator("#status").filter({ hasText: "Done" }).waitFor();
  assert.deepEqual(complaints, []);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
  assert.equal(wide, false);
});

test("Hub_Compare_LooksAtLaterRunsAndMemoryUnasked", async (t) => {
  const hub = await startHub(t);
  await joinHub(t, hub, "phone", phone);
  const json = path.join(temporaryFolder(t), "compare.json");
  const compare = async (options) => {
    const args = ["compare", lenet5, "--right", "pc/fast,remote:phone/strict", "--json", json, ...options];
    const { status, stdout, stderr } = await hub.command(args);
    assert.equal(status, 0, stdout + stderr);
    return { stdout, ...JSON.parse(readFileSync(json, "utf8")) };
  };
  const found = await compare([]);
  const [pc, device] = found.right;
  assert.equal(pc.verify.repeat_check, undefined);
  assert.equal(pc.memory_runs, undefined);
  assert.equal(device.verify.repeat_check.runs, 5);
  assert.equal(device.verify.repeat_check.agree, true);
  assert.ok(device.memory_runs.runs >= 20, JSON.stringify(device.memory_runs));
  assert.match(found.stdout, /memory over \d+ runs/);
  const without = await compare(["--repeat-check", "0", "--memory-runs", "0"]);
  assert.equal(without.right[1].verify.repeat_check, undefined);
  assert.equal(without.right[1].memory_runs, undefined);
});

test("Hub_Bench_MeasuresTheDevice", async (t) => {
  const hub = await startHub(t);
  await joinHub(t, hub, "phone");
  const json = path.join(temporaryFolder(t), "bench.json");
  const targets = "pc/fast,remote:phone/fast";
  const options = ["--threads", "1", "--time", "2", "--json", json];
  const measured = await hub.command(["bench", lenet5, "--targets", targets, ...options]);
  assert.equal(measured.status, 0, measured.stderr);
  const [, device] = JSON.parse(readFileSync(json, "utf8")).results;
  assert.equal(device.target, "remote:phone/fast:threads=1");
  assert.ok(device.median_ms > 0);
  assert.equal((await hub.devices())[0].state, "ready");
});

test("Hub_SameModelAgain_IsNotSentAgain", async (t) => {
  const hub = await startHub(t);
  const { page } = await joinHub(t, hub, "phone");
  let sent = 0;
  page.on("request", (request) => (sent += /\/model\b/.test(request.url())));
  const runIt = () => hub.command(["run", resnet20, "--target", "remote:phone/fast", "--outputs-only"]);
  assert.equal((await runIt()).status, 0);
  await until(() => sent > 0, "the request for the model");
  const first = sent;
  assert.equal((await runIt()).status, 0);
  await page.locator("#device-state").filter({ hasText: "Connected." }).waitFor();
  assert.equal(sent, first);
});

test("Hub_StartedAgain_KnowsItsDevices", async (t) => {
  const state = temporaryFolder(t);
  const first = await startHub(t, [], state);
  const { page } = await joinHub(t, first, "phone");
  const { port } = new URL(first.url);
  first.child.kill("SIGTERM");
  await page.locator("#device-state").filter({ hasText: "No connection to the PC." }).waitFor();
  assert.equal((await first.command(["devices"])).status, 3);
  const second = await startHub(t, ["--port", port], state);
  await connected(page);
  assert.deepEqual(
    (await second.devices()).map(({ target, here }) => [target, here]),
    [["remote:phone", true]],
  );
  const { status, stderr } = await second.command(["serve", "--hub", "--port", "0"]);
  assert.equal(status, 2, stderr);
  assert.match(stderr, /runs already/);
});

test("Hub_RemovedDevice_AndLeaving_AreOut", async (t) => {
  const hub = await startHub(t);
  const { page } = await joinHub(t, hub, "phone");
  assert.equal((await hub.command(["devices", "--remove", "phone"])).status, 0);
  await page.locator("#device-state").filter({ hasText: "This device was removed." }).waitFor();
  const { status, stderr } = await hub.command(["run", lenet5, "--target", "remote:phone/strict"]);
  assert.equal(status, 3);
  assert.match(stderr, /no device called phone has joined the hub/);

  const again = { ...hub, link: await hub.invite() };
  const second = await joinHub(t, again, "tablet");
  await second.page.click("#device-leave");
  await second.page.locator("#device-state").filter({ hasText: "Left." }).waitFor();
  assert.deepEqual(await hub.devices(), []);
  // The link is used up, and so is its cookie.
  const answer = await fetch(again.link);
  assert.equal(answer.status, 404);
});

test("Hub_Keys_AreReadableByTheirOwnerAlone", async (t) => {
  const hub = await startHub(t);
  await joinHub(t, hub, "phone");
  for (const name of ["hub.json", "hub-keys.json"])
    assert.equal(statSync(path.join(hub.state, "driftscope", name)).mode & 0o777, 0o600, name);
});

for (const browser of ["firefox", "safari"])
  test(`Hub_${browser}_JoinsAndRuns`, async (t) => {
    const hub = await startHub(t);
    const { wide, width, touch, height } = await joinIn(t, browser, hub.link, "Phone");
    assert.equal(wide, false, `wider than ${width} pixels`);
    if (browser === "firefox") assert.ok(touch && width <= 360, `${width} pixels, touch: ${touch}`);
    if (touch) assert.ok(height >= 44, `Join is ${height} pixels high`);
    const target = await until(async () => (await hub.devices())[0]?.target, "the device", 120_000);
    assert.equal(target, "remote:phone");
    const { status, stdout, stderr } = await hub.command(["compare", lenet5, "--right", `${target}/strict`]);
    assert.equal(status, 0, stdout + stderr);
    assert.match(stdout, /bit for bit/);
    assert.match(stdout, /5 runs/);
  });
