// The page and its GUI in Firefox and in WebKitGTK, as static files in a subfolder: smoke tests.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { openIn } from "./other_browsers.mjs";
import { putBuild, site, staticHost } from "./static_host.mjs";

const probe = readFileSync(join(dirname(fileURLToPath(import.meta.url)), "probe.js"));

for (const browser of ["firefox", "safari"])
  test(`${browser}: the page comes up isolated, runs LeNet-5, the screens compare two engines`, async (t) => {
    const host = await staticHost(t);
    const page = readFileSync(join(site, "index.html"), "utf8");
    putBuild(host.files, [
      ["probe.js", probe],
      ["index.html", page.replace("<script ", '<script src="probe.js"></script>\n<script ')],
    ]);
    const ended = openIn(t, browser, `${host.url}#model=lenet5&targets=strict,fast&view=Layers&layer=conv2`);
    const seen = JSON.parse(
      await Promise.race([
        host.posted,
        ended.then((code) => assert.fail(`the browser ended by itself: ${code}`)),
      ]),
    );
    assert.deepEqual(seen, {
      layers: 13,
      compared: 13,
      layer: "conv2",
      screensError: "",
      error: "",
      hosting: "",
      complaints: [],
      isolated: true,
      variant: seen.variant,
    });
    assert.match(seen.variant, /driftscope-(relaxed|simd)-threads/);
  });
