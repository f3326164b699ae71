// SIGINT, SIGTERM or SIGHUP at any moment of a run, also while its browser is stopped: it ends by that
// signal, soon, and leaves nothing.
import { launch } from "../programs.mjs";
import { afterwards, browserProcesses, exitText, failure, longRun, signal } from "../striking.mjs";

export const strikes = "command line";
export const weight = 2;

export async function strike(soak, random) {
  const host = random.weighted([
    ["chrome", 3],
    ["firefox", 1],
    ["safari", 1],
  ]);
  const name = random.pick(["SIGINT", "SIGTERM", "SIGHUP"]);
  const run = launch(soak, longRun(host));
  const after = random.between(100, 9000);
  await Promise.race([soak.sleep(after), run.done]);
  const stopped = random.chance(0.3) ? browserProcesses(run.folder, "every") : [];
  signal(stopped, "SIGSTOP");
  const struck = performance.now();
  run.child.kill(name);
  const ended = await run.done;
  const took = (performance.now() - struck) / 1000;
  if (took > 20) throw failure(`${name}: took ${took.toFixed(0)} s to end`, ended);
  if (ended.signal !== name && ended.status !== 0) throw failure(`${name}: ${exitText(ended)}`, ended);
  await afterwards(soak, run);
  return `${name} after ${(after / 1000).toFixed(1)} s, ${stopped.length} stopped: ${exitText(ended)}`;
}
