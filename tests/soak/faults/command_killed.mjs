// The command itself is killed (SIGKILL) while its browser runs, or while a part of that is stopped: no
// process may be left, and the next run removes the temporary folder.
import { launch } from "../programs.mjs";
import { afterwards, browserProcesses, longRun, signal, untilRunning } from "../striking.mjs";

export const strikes = "command line";
export const weight = 2;

export async function strike(soak, random) {
  const host = random.weighted([
    ["chrome", 3],
    ["firefox", 1],
    ["safari", 1],
  ]);
  const part = random.pick(["nothing", "nothing", "renderer", "gpu", "browser"]);
  const run = launch(soak, longRun(host));
  await untilRunning(run, host);
  await soak.sleep(random.between(0, 2000));
  const stopped = part === "nothing" ? [] : browserProcesses(run.folder, part);
  signal(stopped, "SIGSTOP");
  run.child.kill("SIGKILL");
  await run.done;
  await afterwards(soak, run, { killed: true });
  return `while ${host} ran, ${stopped.length} stopped (${part})`;
}
