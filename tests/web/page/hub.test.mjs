// A hub and its devices: Chromium joins by a link as a phone would, and runs what commands give it. Losing it
// in the middle is the case that matters.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { after, test } from "node:test";
import { connect as connectTls } from "node:tls";

import { asset, driftscope, readSafetensors, start, temporaryFolder, until } from "../../e2e/support.mjs";
import { openIn } from "./other_browsers.mjs";
import { closeBrowser, openPage, serve } from "./support.mjs";

after(closeBrowser);

const lenet5 = asset("models", "lenet5.onnx");
const resnet20 = asset("models", "resnet20.onnx");
const phone = { viewport: { width: 360, height: 740 }, deviceScaleFactor: 2, hasTouch: true, isMobile: true };

/**
 * A hub with a state of its own; `command` runs a command of its owner, `begin` starts one. Chromium stops
 * when Playwright, in this process, does not read what it reports: nothing here may block.
 */
async function startHub(t, options = [], state = temporaryFolder(t)) {
  const env = { XDG_STATE_HOME: state };
  const command = (args) => start(args, { env }).done;
  const served = await serve(t, ["--hub", ...options], env);
  const link = await until(() => /^ {4}(http\S+)$/m.exec(served.output.stdout)?.[1], "the link");
  return {
    ...served,
    state,
    link,
    command,
    begin: (args) => start(args, { env }),
    devices: async () => JSON.parse((await command(["devices", "--json", "-"])).stdout).devices,
    invite: async () => /^ {4}(http\S+)$/m.exec((await command(["devices", "--invite"])).stdout)[1],
  };
}

const connected = (page) =>
  page.locator("#device-state").filter({ hasText: "Connected." }).waitFor({ timeout: 60_000 });

async function joinHub(t, hub, name, options = {}) {
  const opened = await openPage(t, options);
  await opened.page.goto(hub.link);
  await connected(opened.page);
  if (name) {
    await opened.page.fill("#device-name", name);
    await opened.page.click("#device-form button[type=submit]");
    await until(
      async () => (await hub.devices()).some(({ target }) => target === `remote:${name}`),
      "its name",
    );
  }
  return opened;
}

test("Hub_Device_IsATargetLikeAnyOther", async (t) => {
  const hub = await startHub(t);
  const { page, complaints } = await joinHub(t, hub, "phone", phone);
  const [device] = await hub.devices();
  assert.equal(device.target, "remote:phone");
  assert.match(device.browser, /^Chrom/);
  assert.equal(device.here, true);
  assert.equal(device.state, "ready");
  assert.match((await hub.command(["devices"])).stdout, /^remote:phone +Chrom/m);

  const folder = temporaryFolder(t);
  const json = join(folder, "compare.json");
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

  const trace = join(folder, "trace.safetensors");
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

test("Hub_Bench_MeasuresTheDevice", async (t) => {
  const hub = await startHub(t);
  await joinHub(t, hub, "phone");
  const json = join(temporaryFolder(t), "bench.json");
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
    assert.equal(statSync(join(hub.state, "driftscope", name)).mode & 0o777, 0o600, name);
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
  const trace = join(temporaryFolder(t), "trace.safetensors");
  const ran = await hub.command(["run", resnet20, "--target", "remote:phone/fast", "--trace", trace]);
  assert.equal(ran.status, 0, ran.stderr);
  assert.ok(network.cut > 3, `${network.cut} of ${network.jobs} requests were cut`);
  assert.equal((await hub.command(["verify", resnet20, trace])).status, 0);
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

for (const browser of ["firefox", "safari"])
  test(`Hub_${browser}_JoinsAndRuns`, async (t) => {
    const hub = await startHub(t);
    openIn(t, browser, hub.link);
    const target = await until(async () => (await hub.devices())[0]?.target, "the device", 120_000);
    const { status, stdout, stderr } = await hub.command(["compare", lenet5, "--right", `${target}/strict`]);
    assert.equal(status, 0, stdout + stderr);
    assert.match(stdout, /bit for bit/);
  });

/** A picture (PGM) of half blocks on a terminal: black where the text is, four pixels a module. */
function pictureOf(lines) {
  const scale = 4;
  const rows = lines.flatMap((line) => [
    [...line].map((c) => c === "█" || c === "▀"),
    [...line].map((c) => c === "█" || c === "▄"),
  ]);
  const pixels = rows.flatMap((row) => {
    const wide = row.flatMap((dark) => Array(scale).fill(dark ? 0 : 255));
    return Array(scale).fill(wide).flat();
  });
  const header = `P5\n${rows[0].length * scale} ${rows.length * scale}\n255\n`;
  return Buffer.concat([Buffer.from(header), Buffer.from(pixels)]);
}

test("Hub_QrCodeOnTheTerminal_IsTheLink", async (t) => {
  const folder = temporaryFolder(t);
  const hub = await startHub(t);
  const script = spawnSync("script", ["-qec", `'${driftscope}' devices --invite`, join(folder, "typed")], {
    env: { ...process.env, XDG_STATE_HOME: hub.state },
    encoding: "utf8",
  });
  assert.equal(script.status, 0, script.stderr);
  const link = /^ {4}(http\S+)\r?$/m.exec(script.stdout)[1];
  // What is black on white, in true colour.
  const lines = script.stdout
    .split("\u001b[38;2;0;0;0;48;2;255;255;255m")
    .slice(1)
    .map((rest) => rest.slice(0, rest.indexOf("\u001b[0m")));
  assert.ok(lines.length > 15, `${lines.length} lines`);
  const picture = join(folder, "code.pgm");
  writeFileSync(picture, pictureOf(lines));
  const read = spawnSync("zbarimg", ["--quiet", "--raw", picture], { encoding: "utf8" });
  assert.equal(read.stdout.trim(), link, read.stderr);
  const { page } = await openPage(t, phone);
  await page.goto(read.stdout.trim());
  await connected(page);
});

// As a phone in the same network: another address, TLS, and a certificate that nobody vouches for.
test("Hub_Listen_DeviceJoinsOverTls", async (t) => {
  const hub = await startHub(t, ["--listen", "127.0.0.1:0"]);
  const origin = new URL(hub.link).origin;
  assert.match(origin, /^https:\/\/127\.0\.0\.1:\d+$/);
  const fingerprint = /^ {2}((?:[0-9A-F]{2}:){31}[0-9A-F]{2})$/m.exec(hub.output.stdout)?.[1];
  const { page } = await joinHub(t, hub, "phone", { ...phone, ignoreHTTPSErrors: true });
  assert.deepEqual(await page.evaluate(() => [isSecureContext, crossOriginIsolated]), [true, true]);
  const certificate = await new Promise((resolve, reject) => {
    const port = Number(new URL(origin).port);
    const socket = connectTls({ host: "127.0.0.1", port, rejectUnauthorized: false }, () => {
      resolve(socket.getPeerX509Certificate());
      socket.destroy();
    }).on("error", reject);
  });
  assert.equal(certificate.fingerprint256, fingerprint);
  assert.equal(statSync(join(hub.state, "driftscope", "hub-tls.pem")).mode & 0o777, 0o600);

  const json = join(temporaryFolder(t), "compare.json");
  const compared = await hub.command(["compare", resnet20, "--right", "remote:phone/strict", "--json", json]);
  assert.equal(compared.status, 0, compared.stdout + compared.stderr);
  const { right } = JSON.parse(readFileSync(json, "utf8"));
  assert.ok(right[0].layers.every(({ different_elements }) => different_elements === 0));
  const ran = await hub.command(["run", lenet5, "--target", "remote:phone/strict"]);
  assert.equal(ran.status, 0, ran.stderr);
  assert.match(await hub.invite(), new RegExp(`^${origin}/`));

  // The owner's address leads nowhere there.
  const opened = await page.request.get(`${origin}${new URL(hub.url).pathname}`, { ignoreHTTPSErrors: true });
  assert.equal(opened.status(), 404);
});
