// Runs the program on a disk that fails (calls.cpp) and reads what is left. Client: power_loss.test.mjs.
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from "node:fs";
import { join } from "node:path";
import { builtFile, start } from "../e2e/support.mjs";

export const layer = builtFile(
  process.env.DRIFTSCOPE_PRESET ?? "native",
  "tests",
  "libdriftscope_failing_disk.so",
);

// What a folder holds: Map name → bytes; a folder ends with "/".
export function contents(folder, below = "") {
  const found = new Map();
  if (!existsSync(folder)) return found;
  for (const name of readdirSync(join(folder, below)).sort()) {
    const path = join(below, name);
    if (statSync(join(folder, path)).isDirectory()) {
      found.set(`${path}/`, Buffer.alloc(0));
      for (const [inner, bytes] of contents(folder, path)) found.set(inner, bytes);
    } else {
      found.set(path, readFileSync(join(folder, path)));
    }
  }
  return found;
}

// The command in a fresh copy of `before`; `args` makes the arguments from the folder. The fault: {how, at}.
export async function runOnDisk(scratch, before, args, fault, options = {}) {
  const place = mkdtempSync(join(scratch, "run-"));
  const folder = join(place, "disk");
  const [report, states] = [join(place, "report"), join(place, "states")];
  mkdirSync(states);
  cpSync(before, folder, { recursive: true });
  const env = fault && {
    LD_PRELOAD: layer,
    FAILING_DISK_FOLDER: folder,
    FAILING_DISK_REPORT: report,
    FAILING_DISK_STATES: states,
    FAILING_DISK_HOW: fault.how,
    FAILING_DISK_AT: String(fault.at ?? 0),
  };
  const result = await start(args(folder), { ...options, env }).done;
  const lines = existsSync(report) ? readFileSync(report, "utf8").trimEnd().split("\n") : [];
  return {
    ...result,
    folder,
    unseen: lines.find((line) => line.startsWith("unseen ")),
    steps: Number(lines.find((line) => line.startsWith("steps "))?.slice(6)),
    met: lines.find((line) => /^\d/.test(line)),
    states: () => statesIn(states),
    remove: () => rmSync(place, { recursive: true }),
  };
}

// What losses of power would have left, in the order of the run: [{about, folder}].
function statesIn(states) {
  const numbers = readdirSync(states).filter((name) => /^\d+$/.test(name));
  return numbers
    .sort((a, b) => a - b)
    .map((name) => ({
      about: readFileSync(join(states, `${name}.about`), "utf8").trim(),
      folder: join(states, name),
    }));
}

// Runs `work` for each of `items`, some at a time: they wait for processes.
export async function forEach(items, work) {
  const rest = [...items];
  const worker = async () => {
    while (rest.length > 0) await work(rest.shift());
  };
  await Promise.all(Array.from({ length: 8 }, worker));
}
