// Firefox as wide as a phone and with touch, and WebKitGTK as narrow as its window becomes, on the page of a
// hub's link. Client: hub.test.mjs.
import { freePort, startDisplay, startWebKitDriver } from "../../e2e/web_drivers.mjs";
import { until } from "../../e2e/support.mjs";
import { marionetteAt } from "./marionette.mjs";
import { openIn } from "./other_browsers.mjs";

/** Each opens `url` and resolves to a function that runs the body of a function there. */
const opens = {
  async firefox(t, url) {
    const port = await freePort();
    openIn(t, "firefox", url, { port, phone: true, screen: "360x740x24" });
    const ask = await marionetteAt(t, port);
    return async (script) => (await ask("WebDriver:ExecuteScript", { script, args: [] })).value;
  },
  async safari(t, url) {
    const driver = await startWebKitDriver(t, await startDisplay(t));
    const ask = async (path, body) => {
      const response = await fetch(`${driver.url}${path}`, { method: "POST", body: JSON.stringify(body) });
      const { value } = await response.json();
      if (!response.ok) throw new Error(`WebKitWebDriver: ${value.message}`);
      return value;
    };
    const { sessionId } = await ask("/session", { capabilities: {} });
    t.after(() => fetch(`${driver.url}/session/${sessionId}`, { method: "DELETE" }).catch(() => {}));
    const session = `/session/${sessionId}`;
    await ask(`${session}/window/rect`, { width: 360, height: 740 });
    await ask(`${session}/url`, { url });
    return (script) => ask(`${session}/execute/sync`, { script, args: [] });
  },
};

/** Opens a link, and presses Join; resolves to what the page was like before. */
export async function joinIn(t, browser, link, name) {
  const run = await opens[browser](t, link);
  const shown = "return document.getElementById('join-card')?.hidden === false";
  await until(() => run(shown).catch(() => false), "the page of the link", 120_000);
  const page = await run(`
    document.getElementById("join-name").value = ${JSON.stringify(name)};
    const { height } = document.getElementById("join").getBoundingClientRect();
    return {
      width: innerWidth,
      height,
      touch: matchMedia("(pointer: coarse)").matches,
      wide: document.documentElement.scrollWidth > innerWidth,
    };`);
  await run("document.getElementById('join').click()");
  return page;
}
