// The page and the GUI on a phone, with fingers. In Chromium.
import assert from "node:assert/strict";
import { after, test } from "node:test";

import { until } from "../../e2e/support.mjs";
import { closeBrowser, openPage, serve, shows, status } from "./support.mjs";

after(closeBrowser);

const phone = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, hasTouch: true, isMobile: true };
const lenet5 = [
  "conv1",
  "relu1",
  "pool1",
  "conv2",
  "relu2",
  "pool2",
  "flatten",
  "fc1",
  "relu3",
  "fc2",
  "relu4",
  "fc3",
  "softmax",
];

async function openPhone(t, link = "#plain", options = {}) {
  const { url } = await serve(t);
  const opened = await openPage(t, { ...phone, ...options });
  await opened.page.goto(url + link);
  await opened.page.locator("#start:enabled").waitFor({ state: "attached" });
  const devtools = await opened.page.context().newCDPSession(opened.page);
  /** Fingers along `paths`: each a list of [x, y], all of the same length. */
  const touch = async (...paths) => {
    const points = (step) => paths.map((path, id) => ({ x: path[step][0], y: path[step][1], id }));
    await devtools.send("Input.dispatchTouchEvent", { type: "touchStart", touchPoints: points(0) });
    for (let step = 1; step < paths[0].length; ++step)
      await devtools.send("Input.dispatchTouchEvent", { type: "touchMove", touchPoints: points(step) });
    await devtools.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
  };
  return { ...opened, touch };
}

const between = ([x0, y0], [x1, y1], steps = 10) =>
  Array.from({ length: steps + 1 }, (_, i) => [x0 + ((x1 - x0) * i) / steps, y0 + ((y1 - y0) * i) / steps]);

const layerOf = (page) => page.evaluate(() => document.getElementById("screens").dataset.layer);
/** Whether nothing is wider than the page; and what is too small for a finger (44 px) or causes zooming. */
async function measure(page) {
  return page.evaluate(() => {
    const controls = [...document.querySelectorAll("button, select, input, a.button, label.button")].filter(
      (one) => one.checkVisibility() && one.type !== "file",
    );
    const { scrollWidth, clientWidth } = document.documentElement;
    return {
      tooWide: scrollWidth - clientWidth,
      small: controls
        .filter((one) => one.getBoundingClientRect().height < 44)
        .map((one) => one.id || one.textContent),
      zooming: controls
        .filter((one) => parseFloat(getComputedStyle(one).fontSize) < 16)
        .map((one) => one.id || one.textContent),
    };
  });
}

test("on a phone it fits, its controls are large enough for fingers, and a run is a tap away", async (t) => {
  const { page, complaints } = await openPhone(t);
  await page.locator("#model").selectOption("lenet1");
  await status(page, "Press Run.");
  await page.locator("#next").tap();
  assert.equal(await page.locator("#sample").inputValue(), "8");
  await page.locator("#start").tap();
  await status(page, "Done: 9 layers");
  assert.equal(await page.locator("#layers tr").count(), 9);
  assert.deepEqual(await measure(page), { tooWide: 0, small: [], zooming: [] });
  await page.locator("#screens-size").tap();
  assert.deepEqual(await measure(page), { tooWide: 0, small: [], zooming: [] });
  assert.deepEqual(complaints, []);
});

test("on the screens a tap chooses a row, a finger scrolls, two zoom", async (t) => {
  const { page, touch } = await openPhone(
    t,
    "#model=lenet5&targets=strict,reference&view=Layers&layer=conv1",
    { viewport: { width: 390, height: 520 } },
  );
  await shows(page, { busy: "false", targets: "2", view: "Layers", layer: "conv1" });
  const box = await page.locator("#screens").boundingBox();
  const row = [box.x + 90, box.y + 326];
  const tapped = async () => {
    const before = await layerOf(page);
    await page.touchscreen.tap(...row);
    await until(async () => (await layerOf(page)) !== before, "another layer");
    return lenet5.indexOf(await layerOf(page));
  };
  const first = await tapped();
  const still = await layerOf(page);
  await touch(between([row[0], row[1]], [row[0], row[1] - 93]));
  assert.equal(await layerOf(page), still, "to scroll chooses nothing");
  assert.equal(await page.evaluate(() => scrollY), 0);
  // Rows are 31 pixels high: the finger scrolled by three of them.
  assert.equal(await tapped(), first + 3);

  await page.locator("#screens").press("7");
  await shows(page, { view: "Graph" });
  const middle = [box.x + box.width / 2, box.y + box.height * 0.6];
  const picture = () => page.locator("#screens").screenshot();
  const changes = async (what, action) => {
    let last = await picture();
    // Of what was before.
    await until(async () => last.equals((last = await picture())), "the picture to rest");
    const before = last;
    await action();
    await until(async () => !before.equals(await picture()), what);
  };
  await changes("the graph to grow", () =>
    touch(
      between(middle, [middle[0] - 80, middle[1]]),
      between([middle[0] + 20, middle[1]], [middle[0] + 100, middle[1]]),
    ),
  );
  await changes("the graph to move", () => touch(between(middle, [middle[0] + 60, middle[1] + 40])));
});

test("a tap on a text field of the screens brings the keyboard, and what it writes arrives", async (t) => {
  const { page, complaints } = await openPhone(
    t,
    "#model=lenet5&targets=strict,reference&view=Layers&layer=conv1",
    { viewport: { width: 390, height: 520 } },
  );
  await shows(page, { busy: "false", targets: "2", view: "Layers", layer: "conv1" });
  const box = await page.locator("#screens").boundingBox();
  const filter = [box.x + 80, box.y + 134];
  const firstRow = [box.x + 80, box.y + 250];
  const has = (wanted) =>
    until(
      () => page.evaluate((what) => document.activeElement.matches(what), wanted),
      `${wanted} to have the focus`,
    );
  await page.evaluate(() => {
    globalThis.opened = 0;
    document.addEventListener(
      "focusin",
      ({ target }) => (globalThis.opened += target.matches("input[enterkeyhint]") ? 1 : 0),
    );
  });
  await page.touchscreen.tap(...filter);
  await has("input[enterkeyhint]");
  // Like real keyboards: a word is replaced by a suggestion, and corrected.
  await page.keyboard.insertText("fd");
  await page.keyboard.press("Backspace");
  await page.keyboard.insertText("c29");
  await page.keyboard.press("Backspace");
  await page.keyboard.press("Enter");
  await has("#screens");
  await page.touchscreen.tap(...firstRow);
  await shows(page, { layer: "fc2" });
  assert.equal(await page.evaluate(() => globalThis.opened), 1, "once, and not again behind Enter");
  assert.deepEqual(complaints, []);
});
