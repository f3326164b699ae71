// What Linux reports about processes. Clients: the subjects (their curves), the faults (whom to strike).
import { readdirSync, readFileSync, readlinkSync } from "node:fs";

const read = (pid, file) => {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "latin1");
  } catch {
    return "";
  }
};

// proc(5): "pid (comm) state ppid …"; comm may contain anything, even ")".
function statOf(pid) {
  const stat = read(pid, "stat");
  const [state, parent, group, session] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return { state, parent: Number(parent), group: Number(group), session: Number(session) };
}

export const everyProcess = () =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number);

export const commandLine = (pid) => read(pid, "cmdline").replaceAll("\0", " ").trim();

/**
 * Processes that belong to a folder: it is in their arguments or in their environment (which Chromium
 * overwrites with its arguments; those have the profile in them). Without zombies.
 */
export function processesOf(folder) {
  const found = [];
  for (const pid of everyProcess()) {
    if (pid === process.pid) continue;
    if (!["cmdline", "environ"].some((file) => read(pid, file).includes(folder))) continue;
    const { state, parent } = statOf(pid);
    if (state && state !== "Z" && state !== "X") found.push({ pid, parent, state, line: commandLine(pid) });
  }
  return found;
}

/** The process and its descendants, by their parents; zombies are counted apart. */
export function treeOf(root) {
  const all = everyProcess().map((pid) => ({ pid, ...statOf(pid) }));
  const members = new Set([root]);
  for (let grown = true; grown;) {
    grown = false;
    for (const { pid, parent } of all)
      if (members.has(parent) && !members.has(pid)) grown = Boolean(members.add(pid));
  }
  const inside = all.filter(({ pid, state }) => state && members.has(pid));
  return {
    living: inside.filter(({ state }) => state !== "Z").map(({ pid }) => pid),
    zombies: inside.filter(({ state }) => state === "Z").map(({ pid }) => pid),
  };
}

export const isAlive = (pid) => {
  const { state } = statOf(pid);
  return Boolean(state) && state !== "Z" && state !== "X";
};

/** Proportional set size, bytes: shared pages are counted once in all. */
export const pss = (pid) => 1024 * Number(/^Pss:\s+(\d+)/m.exec(read(pid, "smaps_rollup"))?.[1] ?? 0);

export const threads = (pid) => Number(/^Threads:\s+(\d+)/m.exec(read(pid, "status"))?.[1] ?? 0);

export function descriptors(pid) {
  try {
    return readdirSync(`/proc/${pid}/fd`).length;
  } catch {
    return 0;
  }
}

/** What the open descriptors lead to, for a report: "socket ×3, /tmp/x". */
export function descriptorsText(pid) {
  const counts = new Map();
  let names = [];
  try {
    names = readdirSync(`/proc/${pid}/fd`);
  } catch {}
  for (const name of names)
    try {
      const target = readlinkSync(`/proc/${pid}/fd/${name}`).replace(/:\[\d+\]$/, "");
      counts.set(target, (counts.get(target) ?? 0) + 1);
    } catch {}
  return [...counts].map(([target, count]) => `${target} ×${count}`).join(", ");
}
