// Files that a person chooses or drops, whole folders as well: which of them a study, an attack, a
// generation or training curves consist of. It does not look into them. Client: page.mjs.
import { RunError } from "../shared/errors.mjs";

const mostListed = 20_000; // files of a dropped folder
const mostFiles = 2_000; // that are read
const mostFileBytes = 512 * 2 ** 20; // as largest_curve_file in core/curves/curve_set.hpp
const mostBytes = 2 ** 30; // all of them, since they are in memory at once

export const whatOpens =
  "Expected one .onnx file (and its data files), traces (.safetensors), a kept comparison (.drift), " +
  "the folder of `driftscope study run --out`, `driftscope attack -o` or `driftscope generate --keep`, " +
  "the JSON of `driftscope generate`, or training curves: CSV with a " +
  "header, Keras's history as JSON, TensorBoard's event files or their folder, the folder of " +
  "`python -m driftscope.training`.";

/** [{path, file}] of a file input; below a chosen folder paths begin with its name. */
export const chosenFiles = (list) =>
  [...list].map((file) => ({ path: file.webkitRelativePath || file.name, file }));

async function walk(entry, found) {
  if (found.length >= mostListed)
    throw new RunError(
      "limit",
      `More than ${mostListed} files: choose the folder of one study, attack, generation or training.`,
    );
  if (entry.isFile) {
    const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
    found.push({ path: entry.fullPath.replace(/^\//, ""), file });
    return;
  }
  const reader = entry.createReader();
  for (;;) {
    // A part of the folder at a time, none at the end.
    const entries = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (entries.length === 0) return;
    for (const one of entries) await walk(one, found);
  }
}

/** Of a drop event, with all files of folders. To be called while the event is handled. */
export async function droppedFiles({ items, files }) {
  const entries = [...items].map((item) => item.webkitGetAsEntry?.() ?? null);
  if (!entries.some((entry) => entry?.isDirectory)) return chosenFiles(files);
  const found = [];
  for (const entry of entries) if (entry) await walk(entry, found);
  return found;
}

const folderOf = (path) => path.slice(0, path.lastIndexOf("/") + 1);
const nameOf = (path) => path.slice(folderOf(path).length);

/** By a file that only such a folder has: what is read of it. */
const kinds = [
  { mark: "cells.jsonl", wants: (name) => ["study.json", "cells.jsonl", "sizes.json"].includes(name) },
  { mark: "attack.json", wants: (name) => name === "attack.json" || name.endsWith(".npy") },
  { mark: "generate.json", wants: (name) => name === "generate.json" },
  { mark: "training.json", wants: (name) => name === "training.json" },
];
const isEvents = (path) => nameOf(path).includes("tfevents");
const mayBeResult = (path) => isEvents(path) || /\.(csv|json|jsonl|npy)$/i.test(path);

/**
 * Those of `files` ({path, file}) that studies, attacks and curves consist of. `marked`: of folders that are
 * one of these, and of them nothing else, not even deeper (pictures, generated data, traces); `loose`: others
 * that may be results, of a folder its event files, if there are any.
 */
export function resultFiles(files) {
  const wanted = new Map(); // by folder
  for (const { mark, wants } of kinds)
    for (const { path } of files)
      if (nameOf(path) === mark && folderOf(path)) wanted.set(folderOf(path), wants);
  const folders = [...wanted.keys()].sort((a, b) => a.length - b.length);
  const marked = [];
  let loose = [];
  for (const one of files) {
    const outermost = folders.find((folder) => one.path.startsWith(folder));
    if (outermost === undefined) {
      if (mayBeResult(one.path)) loose.push(one);
    } else if (folderOf(one.path) === outermost && wanted.get(outermost)(nameOf(one.path))) marked.push(one);
  }
  if (loose.some(({ path }) => folderOf(path) && isEvents(path)))
    loose = loose.filter(({ path }) => !folderOf(path) || isEvents(path));
  return { marked, loose };
}

/** [{path, bytes}]; refuses more than the page can hold. */
export async function readAll(files) {
  if (files.length > mostFiles)
    throw new RunError("limit", `${files.length} files; at most ${mostFiles} are opened at once.`);
  const mebibytes = (bytes) => `${Math.ceil(bytes / 2 ** 20)} MiB`;
  for (const { path, file } of files)
    if (file.size > mostFileBytes)
      throw new RunError(
        "limit",
        `${path} has ${mebibytes(file.size)}; the page opens files of up to ${mebibytes(mostFileBytes)}. ` +
          "The window (`driftscope gui`) opens larger attacks and studies.",
      );
  const total = files.reduce((sum, { file }) => sum + file.size, 0);
  if (total > mostBytes)
    throw new RunError(
      "limit",
      `${mebibytes(total)} together; the page opens up to ${mebibytes(mostBytes)} at once.`,
    );
  return Promise.all(
    files.map(async ({ path, file }) => ({ path, bytes: new Uint8Array(await file.arrayBuffer()) })),
  );
}

/** Calls take([{path, file}]) for what is chosen or dropped, refused(error) for what cannot be listed. */
export function listenToFiles({ take, refused, ready }) {
  const element = (id) => document.getElementById(id);
  for (const id of ["file", "folder"]) {
    const input = element(id);
    input.addEventListener("change", () => {
      if (input.files.length > 0) take(chosenFiles(input.files));
      input.value = "";
    });
    for (const button of document.querySelectorAll(`[data-opens="${id}"]`))
      button.addEventListener("click", () => input.click());
  }
  const drop = element("drop");
  for (const type of ["dragenter", "dragover"])
    document.addEventListener(type, (event) => {
      event.preventDefault();
      drop.classList.add("over");
    });
  for (const type of ["dragleave", "drop"])
    document.addEventListener(type, () => drop.classList.remove("over"));
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    if (ready()) droppedFiles(event.dataTransfer).then(take, refused);
  });
}
