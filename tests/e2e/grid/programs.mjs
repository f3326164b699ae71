// What tools/setup --grid has placed: where it is, and its start as a WebDriver. Clients: the tests beside
// this file, grid.mjs.
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { root, until } from "../support.mjs";
import { freePort, hasProgram, isReady, startProgram } from "../web_drivers.mjs";

const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "driftscope");
const lock = readFileSync(join(root, "tools", "setup.d", "appium", "package-lock.json"));
const appiumHome = join(cache, `appium-${createHash("sha256").update(lock).digest("hex").slice(0, 16)}`);
const appium = join(appiumHome, "node_modules", "appium", "index.js");

export const jar = join(cache, "selenium-grid-4.48.0", "selenium-server.jar");
export const geckodriver = join(cache, "geckodriver-0.37.1", "bin", "geckodriver");

export const hasDisplay = hasProgram("Xvfb");
export const hasChromium = hasProgram("chromedriver");
export const hasFirefox = existsSync(geckodriver) && hasDisplay && hasProgram("firefox-esr");
export const hasAppium = existsSync(appium);

// Tests may run as root and in a container, without a GPU.
export const chromium = {
  browserName: "chrome",
  "goog:chromeOptions": {
    args: [
      "--headless=new",
      "--no-sandbox",
      "--enable-unsafe-webgpu",
      "--use-webgpu-adapter=swiftshader",
      "--enable-features=Vulkan",
    ],
  },
};
export const firefox = {
  browserName: "firefox",
  "moz:firefoxOptions": {
    prefs: {
      "dom.webgpu.enabled": true,
      "dom.webgpu.workers.enabled": true,
      "gfx.webgpu.ignore-blocklist": true,
      "webgl.force-enabled": true,
    },
  },
};

async function startDriver(t, program, args, env, path = "") {
  const port = await freePort();
  const driver = startProgram(t, program, [...args, "--port", `${port}`], env);
  const url = `http://127.0.0.1:${port}${path}`;
  await until(isReady(url), `${program} ${args.join(" ")}`, 60_000);
  return { url, driver };
}

export async function startChromeDriver(t) {
  const port = await freePort();
  const driver = startProgram(t, "chromedriver", [`--port=${port}`]);
  const url = `http://127.0.0.1:${port}`;
  await until(isReady(url), "chromedriver", 30_000);
  return { url, driver };
}

// With --headless Firefox has no WebGL2.
export const startGeckoDriver = (t, display) =>
  startDriver(t, geckodriver, [], { ...display, MOZ_ENABLE_WAYLAND: "0", MOZ_CRASHREPORTER_DISABLE: "1" });

export const startAppium = (t, path = "") =>
  startDriver(
    t,
    process.execPath,
    [appium, "server", "--address", "127.0.0.1", "--log-no-colors", "--base-path", path || "/"],
    { APPIUM_HOME: appiumHome },
    path,
  );
