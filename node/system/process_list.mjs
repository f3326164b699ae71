// The processes of this machine, as each system lists them. A process: { pid, parent, group, memory (bytes),
// command (one text), carries(marker) }.
import { execFile } from "node:child_process";
import fs from "node:fs";

const unread = () => false;

/** proc(5): "pid (name) state ppid pgrp session …"; the name may hold anything, even ")". */
export function readLinuxStatus(text) {
  const close = text.lastIndexOf(")");
  if (close < 0) return null;
  const [state, parent, , session] = text.slice(close + 2).split(" ");
  return { pid: Number.parseInt(text, 10), state, parent: Number(parent), group: Number(session) };
}

/** Bytes of "Pss: 1234 kB" in smaps_rollup. */
export function readLinuxMemory(text) {
  const found = /^Pss:\s+(\d+) kB/m.exec(text);
  return found ? 1024 * Number(found[1]) : 0;
}

function contentOf(file) {
  try {
    return fs.readFileSync(file, "latin1");
  } catch {
    return ""; // it has ended, or is another user's
  }
}

function linuxProcesses() {
  const all = [];
  for (const name of fs.readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const found = readLinuxStatus(contentOf(`/proc/${name}/stat`));
    if (!found || found.state === "Z" || found.state === "X") continue;
    all.push({
      ...found,
      get memory() {
        return readLinuxMemory(contentOf(`/proc/${name}/smaps_rollup`));
      },
      get arguments() {
        return contentOf(`/proc/${name}/cmdline`).split("\0").slice(0, -1);
      },
      get command() {
        return contentOf(`/proc/${name}/cmdline`).replaceAll("\0", " ");
      },
      carries: (marker) => `\0${contentOf(`/proc/${name}/environ`)}`.includes(`\0${marker}`),
    });
  }
  return all;
}

/** Of `ps -axo pid=,ppid=,pgid=,rss=,command=`: macOS and the BSDs. */
export function readPs(text) {
  const all = [];
  for (const line of text.split("\n")) {
    const found = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\d+)\s+(.*)$/.exec(line);
    if (!found) continue;
    const [pid, parent, group, kilobytes] = found.slice(1, 5).map(Number);
    all.push({
      pid,
      parent,
      group,
      memory: 1024 * kilobytes,
      command: found[5],
      arguments: found[5].split(" "),
      carries: unread,
    });
  }
  return all;
}

/** Of PowerShell's Win32_Process as JSON: an array, or one object alone. */
export function readWindowsProcesses(text) {
  const read = JSON.parse(text.trim() || "[]");
  return (Array.isArray(read) ? read : [read]).map((one) => ({
    pid: one.ProcessId,
    parent: one.ParentProcessId,
    group: 0,
    memory: Number(one.WorkingSetSize ?? 0),
    command: one.CommandLine ?? one.Name ?? "",
    arguments: (one.CommandLine ?? "").split(" "),
    carries: unread,
  }));
}

const powershell =
  "Get-CimInstance Win32_Process | Select-Object ProcessId,ParentProcessId,WorkingSetSize,Name,CommandLine" +
  " | ConvertTo-Json -Compress";

function output(program, ...args) {
  return new Promise((resolve) => {
    execFile(program, args, { maxBuffer: 1 << 26, windowsHide: true, timeout: 20000 }, (error, text) =>
      resolve(error ? "" : text),
    );
  });
}

export async function listProcesses(platform = process.platform) {
  if (platform === "linux") return linuxProcesses();
  if (platform === "win32")
    return readWindowsProcesses(
      await output("powershell.exe", "-NoProfile", "-NonInteractive", "-Command", powershell),
    );
  return readPs(await output("ps", "-axo", "pid=,ppid=,pgid=,rss=,command="));
}

/** The leader, its group, what carries the marker, and all that these have started. */
export function treeOf(all, leader, marker = "") {
  const members = new Set(
    all
      .filter(
        (one) =>
          one.pid === leader || (one.group === leader && leader > 0) || (marker && one.carries(marker)),
      )
      .map((one) => one.pid),
  );
  members.delete(process.pid);
  for (let grown = true; grown;) {
    grown = false;
    for (const one of all) {
      if (!members.has(one.parent) || members.has(one.pid) || one.pid === process.pid) continue;
      members.add(one.pid);
      grown = true;
    }
  }
  return all.filter((one) => members.has(one.pid));
}

/** Whether a text names the folder, or something in it, after `name`. */
export function namesFolder(text, name, folder) {
  const wanted = name + folder;
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + 1)) {
    const before = text[at - 1];
    const after = text[at + wanted.length];
    if (
      (before === undefined || before === " ") &&
      (after === undefined || after === "/" || after === "\\" || after === " ")
    )
      return true;
  }
  return false;
}
