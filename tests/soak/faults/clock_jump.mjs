// The clock of the day jumps by hours or years while a run goes on (and with it the browser's): results and
// exit codes are as ever. By a small library in front of libc, since only the monotonic clock has
// namespaces.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { launch } from "../programs.mjs";
import { afterwards, exitText, failure, file, model } from "../striking.mjs";

export const strikes = "command line";

const source = new URL("clock_jump.c", import.meta.url).pathname;
let library;

export function lacks(soak) {
  library = join(soak.work, "clock_jump.so");
  if (existsSync(library)) return undefined;
  const made = spawnSync("cc", ["-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], {
    encoding: "utf8",
  });
  return made.status === 0 ? undefined : `no C compiler: ${made.stderr ?? made.error}`;
}

export async function strike(soak, random) {
  const args = random.pick([
    ["compare", model("lenet5"), "--right", "pc/fast,chrome/strict", "--json", "out.json"],
    ["bench", model("lenet1"), "--targets", "pc/strict,chrome/strict", "--time", "2", "--json", "out.json"],
    ["run", model("lenet5"), "--trace", "out.json", "--memory-runs", "40"],
  ]);
  const folder = soak.folder(`j${random.whole(0, 1e9)}`);
  const offset = join(folder, "offset");
  const jump = (seconds) => {
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64LE(BigInt(seconds));
    writeFileSync(offset, bytes, { flag: existsSync(offset) ? "r+" : "w" }); // it is mapped
  };
  jump(0);
  const run = launch(soak, [...args, "--quiet"], {
    folder,
    env: { LD_PRELOAD: library, CLOCK_JUMP: offset },
  });
  const jumps = [];
  const { child } = run;
  while (child.exitCode === null && child.signalCode === null && !soak.ended) {
    await Promise.race([soak.sleep(random.between(300, 2500)), run.done]);
    jumps.push(random.pick([-86_400 * 400, -7200, -60, 0, 60, 7200, 86_400 * 400]));
    jump(jumps.at(-1));
  }
  const result = await run.done;
  const what = `${args[0]}, ${jumps.length} jumps: ${exitText(result)}`;
  if (result.status !== 0) throw failure(what, result);
  if (readFileSync(file(run, "out.json")).length < 100) throw failure(`${what}, no result`, result);
  await afterwards(soak, run);
  return what;
}
