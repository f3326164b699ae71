// `driftscope serve`, as a browser and as an attacker on the same machine see it.
import assert from "node:assert/strict";
import { request } from "node:http";
import { test } from "node:test";
import { driftscope, run, sanitized, start, until } from "../support.mjs";

async function serve(t, wrap = []) {
  const [program, ...args] = [...wrap, driftscope, "serve"];
  const { child, output, done } = start(args, { program });
  t.after(() => child.kill("SIGKILL"));
  const url = await until(
    () => output.stdout.match(/http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]+\//)?.[0],
    "the URL",
  );
  return { url: new URL(url), child, done };
}

// fetch() would tidy up the path and the headers; this sends them as they are.
const get = (url, path, headers = {}) =>
  new Promise((resolve, reject) => {
    request({ host: "127.0.0.1", port: url.port, path, headers }, (response) => {
      let body = "";
      response
        .on("data", (data) => (body += data))
        .on("end", () => resolve({ status: response.statusCode, headers: response.headers, body }));
    })
      .on("error", reject)
      .end();
  });

test("Serve_GivesThePageIsolatedAndOnlyUnderItsToken", async (t) => {
  const { url } = await serve(t);
  assert.match(url.pathname, /^\/[0-9a-f]{32,}\/$/);
  const page = await get(url, url.pathname);
  assert.equal(page.status, 200);
  assert.match(page.body, /<html/);
  assert.equal(page.headers["cross-origin-opener-policy"], "same-origin");
  assert.equal(page.headers["cross-origin-embedder-policy"], "require-corp");
  assert.match(page.headers["content-security-policy"], /default-src 'none'/);
  assert.doesNotMatch(page.headers["content-security-policy"], /'unsafe-inline'|'unsafe-eval'|\*/);

  for (const path of [
    "/",
    "/index.html",
    `/${"0".repeat(48)}/`,
    `${url.pathname}../`,
    `${url.pathname}%2e%2e/%2e%2e/etc/passwd`,
    `${url.pathname}..%2f..%2f..%2fetc/passwd`,
    `${url.pathname}.git/config`,
  ])
    assert.equal((await get(url, path)).status, 404, path);
  assert.notEqual((await get(url, url.pathname, { Host: "evil.example" })).status, 200);
  assert.notEqual((await get(url, url.pathname, { Origin: "https://evil.example" })).status, 200);
});

test("Serve_PortInUse_SaysSo", async (t) => {
  const { url } = await serve(t);
  const { status, stderr } = run(["serve", "--port", url.port]);
  assert.equal(status, 2, stderr);
  assert.match(stderr, new RegExp(url.port));
  assert.match(stderr, /in use/);
});

test("Serve_Interrupted_StopsAtOnce", async (t) => {
  const { child, done } = await serve(t);
  child.kill("SIGINT");
  const { status, signal } = await done;
  assert.ok(status === 0 || status === 130 || signal === "SIGINT", `${status} ${signal}`);
});

// The stacks of its 64 threads alone would take 512 MB. AddressSanitizer reserves terabytes.
test("Serve_WhereTheSystemGivesFewThreads_MakesDoWithThem", { skip: sanitized }, async (t) => {
  const { url } = await serve(t, ["prlimit", `--data=${200 << 20}`]);
  const answers = await Promise.all(Array.from({ length: 40 }, () => get(url, url.pathname)));
  for (const { status } of answers) assert.equal(status, 200);
});
