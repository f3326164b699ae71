// The npm package as a folder: node npm_package.mjs ROOT BUILD OUT RUNTIMES NOTICES. What is of web/npm and
// node/, the program and the page of BUILD. The runtimes of others are dependencies of the package: RUNTIMES
// has a line "file of the site|file of a package" for each, which the program puts into the page when it
// starts (node/program/runtimes.mjs).
import fs from "node:fs";
import path from "node:path";

const [root, build, out, list, notices] = process.argv.slice(2);
const target = `${out}.new`;
fs.rmSync(target, { recursive: true, force: true });

const copy = (from, to) => {
  const file = path.join(target, to);
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.copyFileSync(from, file);
};
const filesOf = (folder) =>
  fs
    .readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath ?? entry.path, entry.name)));

const runtimes = fs
  .readFileSync(list, "utf8")
  .split("\n")
  .filter(Boolean)
  .map((line) => line.split("|"));
const isRuntime = new Set(runtimes.map(([file]) => file));
// Our page is always isolated, so that the builds without threads are not asked for. The weights of the
// largest model are as much as all the others', data sets are for studies in the clone.
const leftOut = [
  /\.(br|gz)$/,
  /^engine\/driftscope-(simd|relaxed)\./,
  /^assets\/models\/vgg16/,
  /^assets\/data\//,
  /^service_worker\.js$/,
];

for (const file of filesOf(path.join(root, "web/npm"))) copy(path.join(root, "web/npm", file), file);
for (const folder of ["system", "program"])
  for (const file of filesOf(path.join(root, "node", folder)))
    if (file.endsWith(".mjs")) copy(path.join(root, "node", folder, file), `${folder}/${file}`);
for (const file of ["driftscope-node.mjs", "driftscope-node.wasm"])
  copy(path.join(build, "node/program", file), `program/${file}`);
const site = path.join(build, "site");
for (const file of filesOf(site)) {
  const name = file.replaceAll("\\", "/");
  if (isRuntime.has(name) || leftOut.some((pattern) => pattern.test(name))) continue;
  copy(path.join(site, file), `site/${name}`);
}
for (const file of ["LICENSE", "CHANGELOG.md"]) copy(path.join(root, file), file);
copy(notices, "licences.txt"); // of what the program has beside the page, which has its own
fs.writeFileSync(
  path.join(target, "program/runtimes.json"),
  JSON.stringify(Object.fromEntries(runtimes), null, 1) + "\n",
);

// Those that the program has put there, where it was started from this folder, are not ours to pack.
fs.writeFileSync(path.join(target, ".npmignore"), runtimes.map(([file]) => `/site/${file}\n`).join(""));

const description = JSON.parse(fs.readFileSync(path.join(root, "web/npm/package.json"), "utf8"));
const pinned = JSON.parse(fs.readFileSync(path.join(root, "package.json"), "utf8")).devDependencies;
const packageOf = (file) =>
  file
    .split("/")
    .slice(0, file.startsWith("@") ? 2 : 1)
    .join("/");
// What is not pinned comes with a package that is.
const names = [...new Set(runtimes.map(([, file]) => packageOf(file)))].sort().filter((name) => pinned[name]);
description.optionalDependencies = Object.fromEntries(names.map((name) => [name, pinned[name]]));
delete description.files;
fs.writeFileSync(path.join(target, "package.json"), JSON.stringify(description, null, 2) + "\n");

fs.rmSync(out, { recursive: true, force: true });
fs.renameSync(target, out);
