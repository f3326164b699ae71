// How tools/setup handles downloads: tools/setup.d/pins.sh with pins and files of these tests.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const parts = join(root, "tools", "setup.d");
const sha256 = (text) => createHash("sha256").update(text).digest("hex");
const lines = (text) => text.split("\n").filter((line) => line && !line.startsWith("#"));

// Runs `script` after sourcing setup's functions; `pins` is the text of the file, `files` the downloads.
function setUp(t, { pins, files = {}, script }) {
  const folder = mkdtempSync(join(tmpdir(), "driftscope-pins-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "pins"), pins);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const begin = `set -euo pipefail; cd "$0"; exec 8>&2
parts=${parts}; . "$parts/say.sh"; . "$parts/pins.sh"`;
  const env = { ...process.env, DRIFTSCOPE_PINS: join(folder, "pins") };
  const { status, stdout, stderr } = spawnSync("bash", ["-c", `${begin}\n${script}`, folder], {
    env,
    encoding: "utf8",
  });
  return { status, stdout, stderr };
}

const pins = `# name version file SHA-256
tool  1.2-3      tool_1.2-3_amd64.deb          ${sha256("the package")}
other 0~git7+ds  other_0~git7+ds.orig.tar.xz   ${sha256("the sources")}
`;

test("the pinned files are accepted without output", (t) => {
  const files = { "tool_1.2-3_amd64.deb": "the package", "other_0~git7+ds.orig.tar.xz": "the sources" };
  const { status, stdout, stderr } = setUp(t, { pins, files, script: "check_downloads . tool other" });
  assert.equal(status, 0, stdout);
  assert.equal(stdout + stderr, "");
});

test("a file with another hash is refused, with its name, the expected and the actual hash", (t) => {
  const files = { "tool_1.2-3_amd64.deb": "something else" };
  const { status, stdout } = setUp(t, { pins, files, script: "check_downloads . tool" });
  assert.equal(status, 9);
  assert.match(stdout, /^tool_1\.2-3_amd64\.deb is not the file/m);
  assert.ok(stdout.includes(`expected SHA-256 ${sha256("the package")}`), stdout);
  assert.ok(stdout.includes(`got      SHA-256 ${sha256("something else")}`), stdout);
});

test("a newer version of the suite is taken, and the warning names both", (t) => {
  for (const [name, file, version] of [
    ["tool", "tool_1.10-1_amd64.deb", "1.10-1"],
    ["tool", "tool_1%3a0.9-1_amd64.deb", "1:0.9-1"], // with an epoch it is newer
    ["other", "other_0~git8+ds.orig.tar.gz", "0~git8+ds"],
  ]) {
    const run = setUp(t, { pins, files: { [file]: "newer" }, script: `check_downloads . ${name}` });
    assert.equal(run.status, 0, run.stdout);
    assert.ok(run.stderr.includes(`the suite has moved on to ${version}:`), run.stderr);
    assert.ok(run.stderr.includes(name === "tool" ? "tool 1.2-3 is pinned" : "other 0~git7+ds is pinned"));
  }
});

test("an older version is refused, and the lists may be fetched again", (t) => {
  const files = { "tool_1.2-2_amd64.deb": "older" };
  const { status, stdout } = setUp(t, { pins, files, script: "check_downloads . tool" });
  assert.equal(status, 1);
  assert.match(stdout, /the suite offers 1\.2-2, which is not newer than the pinned 1\.2-3/);
});

test("a file with no pin, half a pin, or none delivered, is refused", (t) => {
  const files = { "free_1_all.deb": "", "half_1_all.deb": "" };
  const more = `${pins}half 1 half_1_all.deb 123\n`;
  const refused = (name) => setUp(t, { pins: more, files, script: `check_downloads . ${name}` });
  assert.match(refused("free").stdout, /no line for 'free'/);
  assert.match(refused("half").stdout, /the line of 'half' is not: name version file SHA-256/);
  assert.match(refused("tool").stdout, /tool: expected one file/);
  for (const name of ["free", "half", "tool"]) assert.notEqual(refused(name).status, 0, name);
});

test("a refused file is not fetched three times", (t) => {
  const script = 'once() { echo tried; return 9; }; status=0; retry once || status=$?; echo "$status"';
  assert.equal(setUp(t, { pins, script }).stdout, "tried\n9\n");
});

test("every line of tools/setup.d/pins is whole, and its file is of its name and version", () => {
  const seen = new Set();
  for (const line of lines(readFileSync(join(parts, "pins"), "utf8"))) {
    const [name, version, file, hash, ...more] = line.split(/ +/);
    assert.match(hash ?? "", /^[0-9a-f]{64}$/, line);
    assert.equal(more.length, 0, line);
    const start = `${name}_${version.replace(":", "%3a")}`;
    assert.ok(file.startsWith(`${start}_`) || file.startsWith(`${start}.orig.tar.`), line);
    assert.ok(!seen.has(name), `${name} twice`);
    seen.add(name);
  }
  assert.ok(seen.size > 10);
});

test("whatever the scripts take from Debian 13 is pinned, and checked where it is fetched", () => {
  const pinned = lines(readFileSync(join(parts, "pins"), "utf8")).map((line) => line.split(" ")[0]);
  let taken = 0;
  for (const script of readdirSync(parts).filter((name) => name.endsWith(".sh"))) {
    const text = readFileSync(join(parts, script), "utf8");
    for (const [, list] of text.matchAll(/[ {]((?:\{[^{}]+\}|[a-z0-9+.-]+))\/trixie\b/g)) {
      for (const name of list.replace(/[{}]/g, "").split(",")) {
        assert.ok(pinned.includes(name), `${script} takes ${name}, which has no pin`);
        assert.match(
          text,
          new RegExp(`check_(downloads|offered) .*\\b${name.replace(/\+/g, "\\+")}`),
          script,
        );
        ++taken;
      }
    }
  }
  assert.ok(taken > 10, `${taken} found`);
});

test("every package of npm's lock file has a hash", () => {
  const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
  const names = Object.keys(packages).filter((name) => name !== "");
  assert.ok(names.length > 3);
  for (const name of names) assert.match(packages[name].integrity ?? "", /^sha512-/, name);
});

test("every package of Appium's lock file has a hash, or lies in one that has", () => {
  const lock = JSON.parse(readFileSync(join(parts, "appium", "package-lock.json"), "utf8"));
  const wanted = JSON.parse(readFileSync(join(parts, "appium", "package.json"), "utf8")).dependencies;
  assert.deepEqual(lock.packages[""].dependencies, wanted);
  for (const version of Object.values(wanted)) assert.match(version, /^\d+\.\d+\.\d+$/);
  for (const [name, { integrity, inBundle, resolved }] of Object.entries(lock.packages)) {
    if (name === "") continue;
    if (!inBundle) assert.match(integrity ?? "", /^sha512-/, name);
    assert.equal(resolved, undefined, `${name}: any registry can serve it`);
  }
});
