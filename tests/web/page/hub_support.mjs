// A hub and the devices that join it, for the tests of hubs.
import { asset, start, temporaryFolder, until } from "../../e2e/support.mjs";
import { openPage, serve } from "./support.mjs";

export const lenet5 = asset("models", "lenet5.onnx");
export const resnet20 = asset("models", "resnet20.onnx");
export const phone = {
  viewport: { width: 360, height: 740 },
  deviceScaleFactor: 2,
  hasTouch: true,
  isMobile: true,
};

/**
 * A hub with a state of its own; `command` runs a command of its owner, `begin` starts one. Chromium stops
 * when Playwright, in this process, does not read what it reports: nothing here may block.
 */
export async function startHub(t, options = [], state = temporaryFolder(t)) {
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

export const connected = (page) =>
  page.locator("#device-state").filter({ hasText: "Connected." }).waitFor({ timeout: 60_000 });

/** Presses the button of a link's page, and waits until the device is one. */
export async function join(page, name) {
  await page.locator("#join").waitFor({ timeout: 60_000 });
  if (name) await page.fill("#join-name", name);
  await page.click("#join");
  await connected(page);
}

/** `prepare(page)` before it opens the link. */
export async function joinHub(t, hub, name, { prepare = () => {}, ...options } = {}) {
  const opened = await openPage(t, options);
  await prepare(opened.page);
  await opened.page.goto(hub.link);
  await join(opened.page, name);
  await until(
    async () => (await hub.devices()).some(({ target }) => target === `remote:${name}`),
    "the device in the hub's list",
  );
  return opened;
}
