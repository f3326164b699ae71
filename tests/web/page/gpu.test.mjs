// A GPU that fails under the page: it says so, stays alive, and the next run works. In Chromium.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { afterEach, test } from "node:test";

import { asset, root } from "../../e2e/support.mjs";
import { closeBrowser, openServed, status } from "./support.mjs";

afterEach(closeBrowser); // what these tests do to the GPU process stays with them

/** The worker with `code` run before anything of the engine is loaded. */
async function patchWorker(page, code) {
  const worker = readFileSync(`${root}/web/worker/worker.mjs`, "utf8");
  await page.route("**/web/worker/worker.mjs", (route) =>
    route.fulfill({
      body: worker + code,
      contentType: "text/javascript",
      headers: { "Cross-Origin-Embedder-Policy": "require-corp" },
    }),
  );
}

const failures = {
  "a context that is lost in the middle of a run": {
    code: `
let draws = 0;
const draw = WebGL2RenderingContext.prototype.drawArrays;
WebGL2RenderingContext.prototype.drawArrays = function (...given) {
  if (++draws === 5) this.getExtension("WEBGL_lose_context").loseContext();
  return draw.apply(this, given);
};
`,
    message: /the WebGL context on .* was lost/,
  },
  "a GPU process that ends while shaders compile, before the page is notified": {
    code: `
const parameter = WebGL2RenderingContext.prototype.getProgramParameter;
WebGL2RenderingContext.prototype.getProgramParameter = function (program, what) {
  return what === this.LINK_STATUS ? false : parameter.call(this, program, what);
};
WebGL2RenderingContext.prototype.getShaderInfoLog = () => "";
WebGL2RenderingContext.prototype.getProgramInfoLog = () => null;
`,
    message: /the WebGL context on .* was lost/,
  },
  "textures that do not fit": {
    code: `
WebGL2RenderingContext.prototype.getError = function () { return this.OUT_OF_MEMORY; };
`,
    message: /has no memory for \d+ bytes/,
  },
  "a context that cannot draw into float32": {
    code: `
const extension = WebGL2RenderingContext.prototype.getExtension;
WebGL2RenderingContext.prototype.getExtension = function (name) {
  return name === "EXT_color_buffer_float" ? null : extension.call(this, name);
};
`,
    message: /cannot draw into float32 textures \(EXT_color_buffer_float\)/,
  },
};

for (const [what, { code, message }] of Object.entries(failures))
  test(`${what}: an error, and the next run works`, { timeout: 180_000 }, async (t) => {
    const { page } = await openServed(t);
    await patchWorker(page, code);
    await page.locator("#file").setInputFiles(asset("models", "lenet5.onnx"));
    await page.locator("#seed-note").waitFor();
    await page.locator("#engine").selectOption("webgl");
    await page.locator("#start").click();
    await status(page, "It did not run.");
    assert.match(await page.locator("#error").innerText(), message);
    await page.unroute("**/web/worker/worker.mjs");
    await page.locator("#start").click();
    await status(page, "Done");
    assert.ok(await page.locator("#error").isHidden());
  });
