// The window is killed in the middle of its run: its browser is gone, and the next window removes the
// temporary folder and works.
import { until } from "../programs.mjs";
import { processesOf } from "../watch/procfs.mjs";

export const strikes = "window";
export const rare = true; // a life must be long enough for its curves

export async function strike(soak, random) {
  const window = soak.subjects.get("window");
  await soak.sleep(random.between(0, 3000));
  const { life } = window;
  await window.disturb(async () => {
    const before = processesOf(window.folder).map(({ pid }) => pid);
    window.run.child.kill("SIGKILL");
    // Those of before: the next window is started at once.
    const left = () => processesOf(window.folder).filter(({ pid }) => before.includes(pid));
    await until(() => left().length === 0, `${left().length} processes of a killed window to end`, 10_000);
    await until(() => window.life > life || soak.ended, "the next window");
  });
  return "killed, opened again";
}
