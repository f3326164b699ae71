// The link by which a browser joins a hub: its page, its QR code, and the way to it over TLS.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { after, test } from "node:test";
import { connect as connectTls } from "node:tls";

import { driftscope, temporaryFolder } from "../../e2e/support.mjs";
import { connected, join, joinHub, lenet5, phone, resnet20, startHub } from "./hub_support.mjs";
import { closeBrowser, openPage } from "./support.mjs";

after(closeBrowser);

test("Hub_Link_IsUsedByItsButtonAlone", async (t) => {
  const hub = await startHub(t);
  // A program that shows previews, a scanner, and a browser that runs no scripts.
  for (const method of ["GET", "GET", "HEAD"]) assert.equal((await fetch(hub.link, { method })).status, 200);
  const { page: plain } = await openPage(t, { ...phone, javaScriptEnabled: false });
  await plain.goto(hub.link);
  assert.match(await plain.locator("noscript").first().innerText(), /needs scripts/);
  // Two that have it open; the second comes too late.
  const [{ page }, { page: second }] = [await openPage(t, phone), await openPage(t, phone)];
  for (const one of [page, second]) {
    await one.goto(hub.link);
    await one.locator("#join").waitFor({ timeout: 60_000 });
  }
  assert.deepEqual(await hub.devices(), []);
  assert.match(await page.locator("#join-pc").innerText(), new RegExp(new URL(hub.link).host));
  await page.fill("#join-name", "日本");
  await page.click("#join");
  await page.locator("#join-state").filter({ hasText: "letters or digits" }).waitFor();
  await join(page, "Anna's phone");
  await second.click("#join");
  await second.locator("#join-state").filter({ hasText: "used by another browser" }).waitFor();
  assert.deepEqual(
    (await hub.devices()).map(({ target }) => target),
    ["remote:anna-s-phone"],
  );
  await page.reload();
  await connected(page);
});

for (const colorScheme of ["light", "dark"])
  test(`Hub_Link_OnASmallPhone_FitsFingers_${colorScheme}`, async (t) => {
    const hub = await startHub(t);
    const small = { ...phone, viewport: { width: 360, height: 640 }, colorScheme };
    const { page, complaints } = await openPage(t, small);
    await page.goto(hub.link);
    await page.locator("#join").waitFor({ timeout: 60_000 });
    const look = () =>
      page.evaluate(() => {
        const { bottom } = document.getElementById("join").getBoundingClientRect();
        const shown = [...document.querySelectorAll("a, button, input, select, summary")]
          .map((element) => [element.textContent || element.id, element.getBoundingClientRect()])
          .filter(([, box]) => box.width > 0 && box.right > 0);
        return {
          wide: document.documentElement.scrollWidth > innerWidth,
          below: bottom > innerHeight,
          small: shown.filter(([, box]) => box.width < 44 || box.height < 44).map(([what]) => what),
        };
      });
    assert.deepEqual(await look(), { wide: false, below: false, small: [] });
    await join(page, "phone");
    const { wide, small: targets } = await look();
    assert.deepEqual([wide, targets], [false, []]);
    assert.deepEqual(complaints, []);
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
  const script = spawnSync(
    "script",
    ["-qec", `'${driftscope}' devices --invite`, path.join(folder, "typed")],
    {
      env: { ...process.env, XDG_STATE_HOME: hub.state },
      encoding: "utf8",
    },
  );
  assert.equal(script.status, 0, script.stderr);
  const link = /^ {4}(http\S+)\r?$/m.exec(script.stdout)[1];
  // What is black on white, in true colour.
  const lines = script.stdout
    .split("\u001b[38;2;0;0;0;48;2;255;255;255m")
    .slice(1)
    .map((rest) => rest.slice(0, rest.indexOf("\u001b[0m")));
  assert.ok(lines.length > 15, `${lines.length} lines`);
  const picture = path.join(folder, "code.pgm");
  writeFileSync(picture, pictureOf(lines));
  const read = spawnSync("zbarimg", ["--quiet", "--raw", picture], { encoding: "utf8" });
  assert.equal(read.stdout.trim(), link, read.stderr);
  const { page } = await openPage(t, phone);
  await page.goto(read.stdout.trim());
  await join(page);
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
  assert.equal(statSync(path.join(hub.state, "driftscope", "hub-tls.pem")).mode & 0o777, 0o600);

  const json = path.join(temporaryFolder(t), "compare.json");
  const compared = await hub.command(["compare", resnet20, "--right", "remote:phone/strict", "--json", json]);
  assert.equal(compared.status, 0, compared.stdout + compared.stderr);
  const { right } = JSON.parse(readFileSync(json, "utf8"));
  assert.ok(right[0].layers.every(({ different_elements }) => different_elements === 0));
  const ran = await hub.command(["run", lenet5, "--target", "remote:phone/strict"]);
  assert.equal(ran.status, 0, ran.stderr);
  const invited = (await hub.command(["devices", "--invite"])).stdout;
  assert.match(invited, new RegExp(`^ {4}${origin}/`, "m"));
  assert.match(invited, new RegExp(`^ {2}${fingerprint}$`, "m"));

  // The owner's address leads nowhere there.
  const opened = await page.request.get(`${origin}${new URL(hub.url).pathname}`, { ignoreHTTPSErrors: true });
  assert.equal(opened.status(), 404);
});
