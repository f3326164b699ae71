// WebDrivers for the tests of --webdriver: WebKitGTK's own, on a display of its own.
import { spawn, spawnSync } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { createServer } from "node:net";
import { mark, until } from "./support.mjs";

export const hasProgram = (name) => spawnSync("which", [name]).status === 0;

export const freePort = () =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.on("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

// A program in a process group of its own, which ends with the test.
export function startProgram(t, program, args, env = {}) {
  const child = spawn(program, args, {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  child.text = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (child.text += data));
  child.end = () => {
    try {
      process.kill(-child.pid, "SIGKILL");
    } catch {
      // it has ended
    }
  };
  t.after(child.end);
  return child;
}

export async function startDisplay(t) {
  const server = startProgram(t, "Xvfb", [
    "-displayfd",
    "1",
    "-screen",
    "0",
    "1280x800x24",
    "-nolisten",
    "tcp",
  ]);
  await until(() => /^\d+\n/m.test(server.text), "Xvfb's display", 30_000);
  return { DISPLAY: `:${/^\d+$/m.exec(server.text)[0]}` };
}

export const isReady = (url) => async () => {
  try {
    return (await (await fetch(`${url}/status`)).json()).value?.ready !== undefined;
  } catch {
    return false;
  }
};

// As native/browser/kinds/safari.cpp starts that browser.
export async function startWebKitDriver(t, display) {
  const port = await freePort();
  const env = { ...display, JSC_useSharedArrayBuffer: "1", GDK_BACKEND: "x11", WAYLAND_DISPLAY: "" };
  const driver = startProgram(t, "WebKitWebDriver", [`--port=${port}`], env);
  const url = `http://127.0.0.1:${port}`;
  await until(isReady(url), "WebKitWebDriver", 30_000);
  return { url, port, driver };
}

// Browsers of these tests that run: their folder for temporary files is in their environment.
export function browsersOfTheseTests(name) {
  const read = (pid, file) => {
    try {
      return readFileSync(`/proc/${pid}/${file}`, "utf8");
    } catch {
      return "";
    }
  };
  return readdirSync("/proc")
    .filter((pid) => /^\d+$/.test(pid))
    .filter((pid) => read(pid, "cmdline").split("\0")[0].includes(name))
    .filter((pid) => read(pid, "environ").includes(mark));
}
