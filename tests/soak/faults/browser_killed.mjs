// A browser of a comparison, or a part of it, is killed in the middle of its run: exit code 3, the other
// targets go on and the report has them.
import { readFileSync } from "node:fs";
import { launch } from "../programs.mjs";
import {
  afterwards,
  browserProcesses,
  exitText,
  failure,
  file,
  longRun,
  signal,
  untilRunning,
} from "../striking.mjs";

export const strikes = "command line";
export const weight = 3;

export async function strike(soak, random) {
  const host = random.weighted([
    ["chrome", 3],
    ["firefox", 1],
    ["safari", 1],
  ]);
  const part = random.weighted([
    ["browser", 2],
    ["renderer", 2],
    ["gpu", host === "safari" ? 0 : 1],
    ["every", 1],
  ]);
  const run = launch(soak, longRun(host, "--timeout", "20"));
  await untilRunning(run, host);
  await soak.sleep(random.between(0, 1500));
  const count = signal(browserProcesses(run.folder, part), "SIGKILL");
  const ended = await run.done;
  // 0: a browser goes on without the process that talks to the GPU, and the run may have ended before.
  if (ended.status !== 3 && ended.status !== 0)
    throw failure(`${part} of ${host} killed: ${exitText(ended)}`, ended);
  const report = JSON.parse(readFileSync(file(run, "out.json"), "utf8"));
  if (!report.right.some(({ target, layers }) => target === "pc/strict:threads=1" && layers?.length > 5))
    throw failure("the other target's result is lost", ended);
  if (ended.status === 3 && !ended.stderr.includes(`${host}/strict`))
    throw failure("exit code 3 without a word about the browser", ended);
  await afterwards(soak, run);
  return `${count} processes (${part}) of ${host}: ${exitText(ended)}`;
}
