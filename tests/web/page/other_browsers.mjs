// Firefox and WebKitGTK with a display of their own (Xvfb) and without WebDriver: they only open a URL.
import { spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { until } from "../../e2e/support.mjs";

/** MiniBrowser lies below a folder that is named after the architecture. */
function miniBrowser() {
  const places = readdirSync("/usr/lib").map((name) =>
    join("/usr/lib", name, "webkit2gtk-4.1", "MiniBrowser"),
  );
  return (
    [...places, "/usr/libexec/webkit2gtk-4.1/MiniBrowser"].find((place) => existsSync(place)) ?? "MiniBrowser"
  );
}

// As in native/browser/firefox_profile.cpp: WebGL2 and WebGPU without a GPU, no prompts, no background
// requests.
const preferences = {
  "webgl.force-enabled": true,
  "dom.webgpu.enabled": true,
  "gfx.webgpu.ignore-blocklist": true,
  "browser.aboutwelcome.enabled": false,
  "browser.shell.checkDefaultBrowser": false,
  "browser.startup.page": 0,
  "datareporting.policy.dataSubmissionEnabled": false,
  "termsofuse.bypassNotification": true,
  "app.update.enabled": false,
  "app.normandy.enabled": false,
  "network.captive-portal-service.enabled": false,
  "network.connectivity-service.enabled": false,
  "services.settings.server": "data:,#off",
  "browser.safebrowsing.update.enabled": false,
};

// A finger instead of a mouse (nsXPLookAndFeel's PointerCapabilities).
const phonePreferences = {
  "toolkit.legacyUserProfileCustomizations.stylesheets": true,
  "dom.w3c_touch_events.enabled": 1,
  "ui.primaryPointerCapabilities": 1,
  "ui.allPointerCapabilities": 1,
};

// Else no window is narrower than 500 pixels.
const narrowWindow = "* { min-width: 0 !important; }\n";

const commands = {
  firefox(folder, { port, phone }) {
    const more = { ...(port && { "marionette.port": port }), ...(phone && phonePreferences) };
    const lines = Object.entries({ ...preferences, ...more }).map(
      ([name, value]) => `user_pref("${name}", ${JSON.stringify(value)});\n`,
    );
    writeFileSync(join(folder, "user.js"), lines.join(""));
    if (phone) {
      mkdirSync(join(folder, "chrome"));
      writeFileSync(join(folder, "chrome", "userChrome.css"), narrowWindow);
    }
    const program = process.env.DRIFTSCOPE_FIREFOX ?? "firefox-esr";
    const options = [...(port ? ["--marionette"] : []), ...(phone ? ["--kiosk"] : [])];
    return [program, "--no-remote", "--profile", folder, ...options];
  },
  // A small window, since the processor renders it.
  safari: () => [process.env.DRIFTSCOPE_SAFARI ?? miniBrowser(), "--geometry=640x600"],
};

/** The processes of this machine that have `mark` in their environment: a browser and all that it started. */
const marked = (mark) =>
  readdirSync("/proc").filter((entry) => {
    try {
      return /^\d+$/.test(entry) && readFileSync(`/proc/${entry}/environ`, "utf8").includes(mark);
    } catch {
      return false; // ended meanwhile, or another user's
    }
  });

function kill(pids) {
  for (const pid of pids)
    try {
      process.kill(Number(pid), "SIGKILL");
    } catch {
      // ended meanwhile
    }
}

/**
 * Opens `url` in "firefox" or "safari" until the test is over; resolves when the browser ended. Firefox also
 * with Marionette at `port` (marionette.mjs), and as a `phone`: with touch, as large as the screen.
 */
export function openIn(t, browser, url, { screen = "1280x1000x24", options = [], port, phone } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "driftscope-browser-"));
  const env = {
    ...process.env,
    DRIFTSCOPE_TEST_BROWSER: folder,
    JSC_useSharedArrayBuffer: "1",
    GDK_BACKEND: "x11",
    MOZ_CRASHREPORTER_DISABLE: "1",
    NO_AT_BRIDGE: "1",
    GSETTINGS_BACKEND: "memory",
    DBUS_SESSION_BUS_ADDRESS: "disabled:",
  };
  delete env.WAYLAND_DISPLAY;
  // No files are written to the user's own folders.
  for (const variable of ["HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR"]) {
    env[variable] = join(folder, variable);
    mkdirSync(env[variable], { mode: 0o700 });
  }
  const display = ["-a", "-s", ["-screen", "0", screen, ...options].join(" ")];
  const child = spawn("xvfb-run", [...display, ...commands[browser](folder, { port, phone }), url], {
    env,
    stdio: "ignore",
  });
  t.after(async () => {
    await until(() => {
      const left = marked(`DRIFTSCOPE_TEST_BROWSER=${folder}`);
      kill(left);
      return left.length === 0;
    }, `${browser} to end`);
    rmSync(folder, { recursive: true, force: true });
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", resolve);
  });
}
