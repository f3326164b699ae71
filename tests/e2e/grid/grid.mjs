// A Selenium Grid: a hub and nodes on addresses of their own. Clients: grid.test.mjs, tests/bench/grid.mjs.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder, until } from "../support.mjs";
import { freePort, isReady, startDisplay, startProgram, startWebKitDriver } from "../web_drivers.mjs";
import { geckodriver, jar } from "./programs.mjs";

const executables = { chrome: "/usr/bin/chromedriver", firefox: geckodriver };

const driverOf = (browserName) => `[[node.driver-configuration]]
display-name = "${browserName}"
webdriver-executable = "${executables[browserName]}"
stereotype = "{\\"browserName\\": \\"${browserName}\\"}"
max-sessions = 1
`;

const relayTo = (url) => `[relay]
url = "${url}"
status-endpoint = "/status"
configs = ["1", "{\\"browserName\\": \\"MiniBrowser\\"}"]
`;

async function startNode(t, grid, number, browsers) {
  const webkit = browsers.includes("MiniBrowser") ? await startWebKitDriver(t, grid.display) : undefined;
  const config = join(grid.folder, `node${number}.toml`);
  const drivers = browsers.filter((name) => name in executables).map(driverOf);
  const relay = webkit ? relayTo(webkit.url) : "";
  writeFileSync(
    config,
    `[node]\ndetect-drivers = false\nselenium-manager = false\n${drivers.join("")}${relay}`,
  );
  const host = `127.0.0.${number + 2}`;
  const port = await freePort();
  const args = ["-jar", jar, "node", "--config", config, "--host", host, "--port", `${port}`, ...grid.bus];
  const node = startProgram(t, "java", args, { ...grid.display, MOZ_ENABLE_WAYLAND: "0" });
  return { uri: `http://${host}:${port}`, node, driver: webkit?.driver };
}

/** A hub, and a node for each list of "MiniBrowser", "chrome", "firefox": one of each at a time. */
export async function startGrid(t, lists) {
  const grid = { folder: temporaryFolder(t), display: await startDisplay(t), nodes: [] };
  const [port, publish, subscribe] = [await freePort(), await freePort(), await freePort()];
  grid.bus = ["--publish-events", `tcp://127.0.0.1:${publish}`];
  grid.bus.push("--subscribe-events", `tcp://127.0.0.1:${subscribe}`);
  grid.url = `http://127.0.0.1:${port}`;
  startProgram(t, "java", ["-jar", jar, "hub", "--host", "127.0.0.1", "--port", `${port}`, ...grid.bus]);
  await until(isReady(grid.url), "the hub", 60_000);
  for (const [number, browsers] of lists.entries())
    grid.nodes.push(await startNode(t, grid, number, browsers));
  grid.status = async () => (await (await fetch(`${grid.url}/status`)).json()).value.nodes ?? [];
  const ready = async () =>
    (await grid.status()).filter((node) => node.availability === "UP").length === lists.length;
  await until(ready, "all nodes", 120_000);
  // The node that has a session now.
  grid.busy = async () => {
    const node = (await grid.status()).find(({ slots }) => slots.some(({ session }) => session));
    return node && grid.nodes.find(({ uri }) => uri === (node.uri ?? node.externalUri));
  };
  return grid;
}
