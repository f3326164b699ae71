// A browser of a comparison, or a part of it, is stopped (SIGSTOP): continued after a while the run must
// succeed; left alone it must be given up after --timeout, and the stopped processes be gone.
import { launch } from "../programs.mjs";
import {
  afterwards,
  browserProcesses,
  exitText,
  failure,
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
  const part = random.pick(["browser", "renderer", "gpu", "every"]);
  const goesOn = random.chance(0.5);
  const run = launch(soak, longRun(host, "--timeout", goesOn ? "60" : "8"));
  await untilRunning(run, host);
  await soak.sleep(random.between(0, 1500));
  const stopped = browserProcesses(run.folder, part);
  signal(stopped, "SIGSTOP");
  if (goesOn) {
    await soak.sleep(random.between(2000, 6000));
    signal(stopped, "SIGCONT");
  }
  const ended = await run.done;
  const allowed = goesOn ? [0] : [0, 3];
  if (!allowed.includes(ended.status))
    throw failure(`${part} of ${host} stopped${goesOn ? " for a while" : ""}: ${exitText(ended)}`, ended);
  await afterwards(soak, run);
  const what = `${stopped.length} processes (${part}) of ${host}`;
  return `${what}${goesOn ? ", for a while" : ""}: ${exitText(ended)}`;
}
