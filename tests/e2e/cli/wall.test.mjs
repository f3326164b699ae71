// driftscope wall, and serve --results: stored comparisons over releases.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { test } from "node:test";
import { asset, run, start, temporaryFolder, until } from "../support.mjs";

/** A comparison that the program makes, once. */
let made;
function comparison(t) {
  if (!made) {
    const cwd = temporaryFolder(t);
    const args = ["compare", asset("models", "lenet5.onnx"), "--input", "seed:42"];
    args.push("--left", "pc/strict", "--right", "pc/fast", "--json", "a.json");
    const { status, stderr } = run(args, { cwd });
    assert.equal(status, 0, stderr);
    made = readFileSync(join(cwd, "a.json"), "utf8");
  }
  return JSON.parse(made);
}

/** The same as if a browser of that release had run it, with another verdict. */
function inBrowser(t, version, day, verdict) {
  const document = comparison(t);
  const [right] = document.right;
  document.left.ran.start_time = right.ran.start_time = `2026-11-${day}T02:00:00Z`;
  right.target = right.verify.target = "chrome/fast";
  right.ran.browser_version = `Chromium ${version}`;
  right.verify.verdict = verdict;
  if (verdict === "fault") {
    const layer = right.verify.layers[2];
    layer.verdict = "fault";
    right.verify.first_fault = layer.node;
  }
  return JSON.stringify(document);
}

function results(t) {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, "nightly"));
  writeFileSync(join(folder, "nightly", "1.json"), inBrowser(t, "99.0.1.2", "01", "rounding"));
  writeFileSync(join(folder, "nightly", "2.json"), inBrowser(t, "100.0.1.2", "02", "fault"));
  writeFileSync(join(folder, "3.json"), inBrowser(t, "101.0.1.2", "03", "fault"));
  writeFileSync(join(folder, "package.json"), "{}");
  writeFileSync(join(folder, "cut.json"), inBrowser(t, "102.0", "04", "fault").slice(0, 5000));
  return folder;
}

/** Every link leads to a page, and where it names a place, to that. */
function checkLinks(folder) {
  const ids = new Map();
  const links = [];
  for (const name of readdirSync(folder).filter((one) => one.endsWith(".html"))) {
    const page = readFileSync(join(folder, name), "utf8");
    assert.doesNotMatch(page, /<script|https?:/, name);
    ids.set(name, new Set([...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)));
    for (const [, link] of page.matchAll(/ href="([^"]+)"/g)) links.push([name, link]);
  }
  for (const [from, link] of links) {
    const [file, place] = link.split("#");
    assert.ok(ids.has(file || from), `${from}: ${link}`);
    if (place) assert.ok(ids.get(file || from).has(place), `${from}: ${link}`);
  }
  return links.length;
}

test("Wall_ComparisonsOverReleases_ShowSinceWhenATargetIsWrong", (t) => {
  const cwd = temporaryFolder(t);
  const { status, stdout, stderr } = run(["wall", results(t), "-o", "out/wall"], { cwd });
  assert.equal(status, 0, stderr);
  assert.match(stdout, /1 models, 6 runs of 3 comparisons, 1 times worse/);
  assert.match(stdout, /skipped: cut\.json: /);
  assert.match(stdout, /1 other JSON files/);
  const front = readFileSync(join(cwd, "out", "wall", "index.html"), "utf8");
  assert.match(front, /since Chromium 100</);
  assert.match(front, /What changed/);
  const pages = readdirSync(join(cwd, "out", "wall")).filter((name) => name.startsWith("lenet5-"));
  assert.equal(pages.length, 1);
  assert.match(readFileSync(join(cwd, "out", "wall", pages[0]), "utf8"), /Chromium 101\.0\.1\.2/);
  assert.ok(checkLinks(join(cwd, "out", "wall")) > 5);
});

test("Wall_FolderOfOthers_KeepsTheirFiles", (t) => {
  const cwd = temporaryFolder(t);
  const folder = results(t);
  mkdirSync(join(cwd, "out"));
  writeFileSync(join(cwd, "out", "notes.html"), "mine");
  assert.equal(run(["wall", folder, "-o", "out"], { cwd }).status, 0);
  assert.equal(run(["wall", folder, "-o", "out"], { cwd }).status, 0); // once more, over its own pages
  assert.equal(readFileSync(join(cwd, "out", "notes.html"), "utf8"), "mine");
  writeFileSync(join(cwd, "out", "index.html"), "mine too");
  const { status, stderr } = run(["wall", folder, "-o", "out"], { cwd });
  assert.equal(status, 2);
  assert.match(stderr, /index\.html was not written by driftscope/);
  assert.equal(readFileSync(join(cwd, "out", "index.html"), "utf8"), "mine too");
});

test("Wall_FolderWithoutComparisons_IsAnError", (t) => {
  const cwd = temporaryFolder(t);
  const elsewhere = results(t);
  mkdirSync(join(cwd, "empty"));
  symlinkSync(elsewhere, join(cwd, "empty", "link"));
  for (const [folder, message] of [
    ["empty", /no file of 'driftscope compare --json'/],
    ["missing", /missing: expected a folder/],
  ]) {
    const { status, stderr } = run(["wall", folder, "-o", "out"], { cwd });
    assert.equal(status, 2, folder);
    assert.match(stderr, message);
  }
  assert.ok(!existsSync(join(cwd, "out")));
});

const get = (url, path) =>
  new Promise((resolve, reject) => {
    request({ host: "127.0.0.1", port: url.port, path }, (response) => {
      let body = "";
      response
        .on("data", (data) => (body += data))
        .on("end", () => resolve({ status: response.statusCode, headers: response.headers, body }));
    })
      .on("error", reject)
      .end();
  });

test("Serve_Results_AreShownBelowTheTokenAndReadAgain", async (t) => {
  const folder = results(t);
  const { child, output } = start(["serve", "--results", folder]);
  t.after(() => child.kill("SIGKILL"));
  const address = await until(
    () => output.stdout.match(/results: (http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]+\/wall\/)/)?.[1],
    "the address of the wall",
  );
  const url = new URL(address);
  const front = await get(url, url.pathname);
  assert.equal(front.status, 200);
  assert.match(front.body, /since Chromium 100</);
  assert.match(front.headers["content-security-policy"], /^default-src 'none'; style-src 'sha256-/);
  const [, page] = front.body.match(/href="(lenet5-[0-9a-f]+\.html)#/);
  assert.equal((await get(url, url.pathname + page)).status, 200);
  assert.equal((await get(url, "/wall/")).status, 404);
  assert.equal((await get(url, `${url.pathname}3.json`)).status, 404);

  writeFileSync(join(folder, "later.json"), inBrowser(t, "103.0.9.9", "09", "rounding"));
  const after = await get(url, url.pathname);
  assert.match(after.body, /Chromium 103/);
  assert.match(after.body, />better</);
});

test("Serve_ResultsThatAreNoFolder_AreAnError", () => {
  const { status, stderr } = run(["serve", "--results", "/nowhere/at/all"]);
  assert.equal(status, 2);
  assert.match(stderr, /expected a folder/);
});
