// Devices of a hub that are lost in the middle of a job, and networks that are bad.
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import path from "node:path";
import { after, test } from "node:test";

import { temporaryFolder } from "../../e2e/support.mjs";
import { connected, joinHub, lenet5, phone, resnet20, startHub } from "./hub_support.mjs";
import { closeBrowser } from "./support.mjs";

after(closeBrowser);

test("Hub_ReloadInTheMiddle_SaysWhereAndTriesAgain", async (t) => {
  const hub = await startHub(t);
  const { page } = await joinHub(t, hub, "phone");
  const running = hub.begin(["run", resnet20, "--target", "remote:phone/strict", "--repeat", "20000"]);
  await page.locator("#device-state").filter({ hasText: "Running" }).waitFor();
  // As a page that the system ends: what it had written down last is all that is known.
  const written = () =>
    Object.values(localStorage).some((text) => text.startsWith("{") && JSON.parse(text).total > 0);
  await page.waitForFunction(written, undefined, { timeout: 60_000 });
  await page.reload();
  const { status, stderr } = await running.done;
  assert.equal(status, 3, stderr);
  assert.match(
    stderr,
    /remote:phone .*lost its page in the run, after \d+ of \d+ layers.*\. In run \d+, before \S+/,
  );
  assert.match(stderr, /Tried once more, for the outputs alone, it ran/);
  await connected(page);
  const [device] = await hub.devices();
  assert.match(device.lost, /^in the run/);
  const again = await hub.command(["run", lenet5, "--target", "remote:phone/strict", "--outputs-only"]);
  assert.equal(again.status, 0, again.stderr);
});

test("Hub_TabClosedInTheMiddle_IsGivenUpWithTheReason", async (t) => {
  const hub = await startHub(t);
  const { page } = await joinHub(t, hub, "phone");
  const args = ["run", resnet20, "--target", "remote:phone/strict", "--repeat", "20000", "--timeout", "5"];
  const running = hub.begin(args);
  await page.locator("#device-state").filter({ hasText: "Running" }).waitFor();
  await page.close();
  const { status, stderr } = await running.done;
  assert.equal(status, 3, stderr);
  assert.match(stderr, /remote:phone .*the device is silent for \d+ s: its screen may be locked/);
});

test("Hub_PageThatCrashes_SaysWhereWhenItIsBack", async (t) => {
  const hub = await startHub(t);
  const { page } = await joinHub(t, hub, "phone", phone);
  const link = page.url();
  const running = hub.begin(["run", resnet20, "--target", "remote:phone/strict", "--repeat", "20000"]);
  await page.locator("#device-state").filter({ hasText: "Running" }).waitFor();
  const written = () =>
    Object.values(localStorage).some((text) => text.startsWith("{") && JSON.parse(text).total > 0);
  await page.waitForFunction(written, undefined, { timeout: 60_000 });
  const crashed = new Promise((resolve) => page.once("crash", resolve));
  const devtools = await page.context().newCDPSession(page);
  devtools.send("Page.crash").catch(() => {}); // nothing is left that could answer
  await crashed;
  const again = await page.context().newPage();
  await again.goto(link);
  const { status, stderr } = await running.done;
  assert.equal(status, 3, stderr);
  assert.match(stderr, /lost its page in the run, after \d+ of \d+ layers.*Tried once more.*, it ran/s);
});

test("Hub_PageFrozenInTheMiddle_IsGivenUpAndComesBack", async (t) => {
  const hub = await startHub(t);
  const { page } = await joinHub(t, hub, "phone");
  const args = ["run", resnet20, "--target", "remote:phone/strict", "--repeat", "20000", "--timeout", "5"];
  const running = hub.begin(args);
  await page.locator("#device-state").filter({ hasText: "Running" }).waitFor();
  const frozen = page.evaluate(() => {
    const end = performance.now() + 20_000;
    while (performance.now() < end);
  });
  const { status, stderr } = await running.done;
  assert.equal(status, 3, stderr);
  assert.match(stderr, /remote:phone .*its screen may be locked, its page closed or ended by the system/);
  await frozen;
  await connected(page);
  const again = await hub.command(["run", lenet5, "--target", "remote:phone/strict", "--outputs-only"]);
  assert.equal(again.status, 0, again.stderr);
});

test("Hub_SlowLink_EveryLayerIsRight", async (t) => {
  const hub = await startHub(t);
  const { page } = await joinHub(t, hub, "phone", phone);
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Network.enable");
  const kilobytes = 1024;
  await devtools.send("Network.emulateNetworkConditions", {
    offline: false,
    latency: 400,
    downloadThroughput: 400 * kilobytes,
    uploadThroughput: 400 * kilobytes,
  });
  const trace = path.join(temporaryFolder(t), "trace.safetensors");
  const ran = await hub.command(["run", resnet20, "--target", "remote:phone/fast", "--trace", trace]);
  assert.equal(ran.status, 0, ran.stderr);
  assert.equal((await hub.command(["verify", resnet20, trace])).status, 0);
});

/**
 * Between device and hub: passes everything on. While `bad` is set it cuts one of three requests for jobs,
 * before the answer or in its middle.
 */
async function badNetwork(t) {
  const network = { port: 0, bad: false, cut: 0, jobs: 0 };
  const pass = (from, to, change = (data) => data) => {
    from.on("data", (data) => to.write(change(data)));
    from.on("end", () => to.end());
    from.on("error", () => to.destroy());
    from.on("close", () => to.destroy());
  };
  const server = createServer((device) => {
    device.once("data", (head) => {
      const hub = connect(network.port, "127.0.0.1");
      hub.write(head);
      const isJob = /^[A-Z]+ \S*\/api\/jobs\//.test(head.toString("latin1"));
      const isCut = network.bad && isJob && ++network.jobs % 3 === 0;
      pass(device, hub);
      if (!isCut) return pass(hub, device);
      network.cut += 1;
      const half = network.cut % 2 === 0;
      hub.once("data", (data) => {
        if (half) device.write(data.subarray(0, data.length / 2));
        setTimeout(() => device.destroy(), 20);
        hub.destroy();
      });
      hub.on("error", () => device.destroy());
    });
    device.on("error", () => {});
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  return { network, port: server.address().port };
}

test("Hub_NetworkThatCutsAThirdOfTheRequests_EveryLayerIsRight", async (t) => {
  const { network, port } = await badNetwork(t);
  const hub = await startHub(t, ["--public", `http://127.0.0.1:${port}`]);
  network.port = Number(new URL(hub.url).port);
  assert.equal(new URL(hub.link).port, String(port));
  await joinHub(t, hub, "phone");
  network.bad = true;
  const trace = path.join(temporaryFolder(t), "trace.safetensors");
  const ran = await hub.command(["run", resnet20, "--target", "remote:phone/fast", "--trace", trace]);
  assert.equal(ran.status, 0, ran.stderr);
  assert.ok(network.cut > 3, `${network.cut} of ${network.jobs} requests were cut`);
  assert.equal((await hub.command(["verify", resnet20, trace])).status, 0);
});
