// What the documents name exists: linked files and headings, paths, commands and their options. Listings are
// the files that they name. And the version is the same wherever it is said.
import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const text = (...path) => readFileSync(join(root, ...path), "utf8");

const foreign = new Set(["node_modules", "build", "dist", ".git", "__pycache__"]);

function filesBelow(folder, suffix) {
  const found = [];
  for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
    if (foreign.has(entry.name) || entry.isSymbolicLink()) continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) found.push(...filesBelow(path, suffix));
    else if (entry.name.endsWith(suffix)) found.push(path);
  }
  return found;
}

const pages = filesBelow(".", ".md");
const forms = filesBelow(".github", ".yml");
const withoutListings = (page) => text(page).replaceAll(/^```.*?^```/gms, "");

/** The anchors that GitHub gives the headings of a page. */
const anchorsOf = (page) =>
  new Set(
    [...withoutListings(page).matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\p{M} _-]/gu, "")
        .replaceAll(" ", "-"),
    ),
  );

test("Documents_Links_LeadToFilesAndHeadings", () => {
  const broken = [];
  for (const page of pages) {
    const links = withoutListings(page).matchAll(/\]\(([^)\s]+)\)/g);
    for (const [, target] of links) {
      if (/^[a-z]+:/.test(target)) continue;
      const [path, anchor] = target.split("#");
      const file = path === "" ? page : relative(root, join(root, dirname(page), path));
      const there = existsSync(join(root, file));
      if (!there || (anchor && file.endsWith(".md") && !anchorsOf(file).has(anchor)))
        broken.push(`${page}: ${target}`);
    }
  }
  assert.deepEqual(broken, []);
  assert.ok(pages.length > 30, `only ${pages.length} pages were found`);
});

/** Whether a path exists; NAME, FAMILY and the like, * and … match anything; a suffix may be left out. */
function matches(path) {
  let folders = [root];
  for (const part of path.split("/").filter(Boolean)) {
    const pattern = new RegExp(
      `^${part
        .replaceAll(/[.+?^$()[\]\\|]/g, "\\$&")
        .replaceAll(/\{([^}]*)\}/g, (_, choices) => `(${choices.replaceAll(",", "|")})`)
        .replaceAll(/[A-Z]{3,}|\*|…/g, ".*")}([.].*)?$`,
    );
    folders = folders
      .filter((folder) => statSync(folder).isDirectory())
      .flatMap((folder) =>
        readdirSync(folder)
          .filter((name) => name === part || pattern.test(name))
          .map((name) => join(folder, name)),
      );
  }
  return folders.length > 0;
}

test("Documents_Paths_Exist", () => {
  const absent = [];
  for (const page of pages)
    for (const [, path] of withoutListings(page).matchAll(/`((?:\.\/)?[\w.-]+\/[^`\s]*)`/g))
      if (/^(core|native|web|shaders|tests|tools|cmake|docs|python|packaging)\//.test(path) && !matches(path))
        absent.push(`${page}: ${path}`);
  assert.deepEqual(absent, []);
});

test("Documents_Listings_AreTheFiles", () => {
  let seen = 0;
  for (const page of pages)
    for (const [, path, listing] of text(page).matchAll(/^```\w+ (\S+)\n(.*?)^```$/gms)) {
      ++seen;
      assert.equal(listing, text(path), `${page}: the listing of ${path} is not the file`);
    }
  assert.ok(seen > 0, "no listing was found");
});

const sources = [...filesBelow("native/cli", ".cpp"), ...filesBelow("core/convert", "format.cpp")]
  .map((file) => text(file))
  .join("\n");
const hasOption = (option) => sources.includes(`--${option}`) || sources.includes(`"${option}"`);

test("Documents_CommandsAndOptions_Exist", () => {
  const unknown = [];
  let seen = 0;
  for (const page of [...pages, ...forms])
    // Lines that a backslash continues are one.
    for (const line of text(page)
      .replaceAll(/\\\n\s*/g, "")
      .split("\n"))
      for (const [, command, rest] of line.matchAll(/(?<![\w-])driftscope ([a-z][a-z-]+)([^`|;#]*)/g)) {
        const file = `native/cli/commands/command_${command.replaceAll("-", "_")}.cpp`;
        const isCommand = existsSync(join(root, file));
        if (!isCommand && !/^ (--|MODEL|model)/.test(rest)) continue; // a sentence
        ++seen;
        const options = [...rest.matchAll(/ --([a-z][a-z0-9-]+)/g)].map(([, option]) => option);
        if (!isCommand) unknown.push(`${page}: driftscope ${command}`);
        for (const option of options)
          if (!hasOption(option)) unknown.push(`${page}: driftscope ${command} --${option}`);
      }
  assert.deepEqual(unknown, []);
  assert.ok(seen > 60, `only ${seen} commands were found`);
});

test("Version_IsTheSameEverywhere", () => {
  const [, version] = /^project\(driftscope VERSION (\S+)/m.exec(text("CMakeLists.txt"));
  assert.equal(JSON.parse(text("web", "npm", "package.json")).version, version);
  assert.ok(text("python", "driftscope", "__init__.py").includes(`__version__ = "${version}"`));
  const images = [...text("docs", "ci", "driftscope.yml").matchAll(/driftscope:([\d.]+)/g)];
  assert.deepEqual([...new Set(images.map(([, tag]) => tag))], [version]);
  assert.ok(text("CHANGELOG.md").includes(version), `CHANGELOG.md says nothing of ${version}`);
});
