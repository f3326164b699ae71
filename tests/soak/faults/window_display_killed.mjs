// The window's display is gone: it exits on its own, soon, with all its processes, and the next one opens
// elsewhere.
import { until } from "../programs.mjs";
import { processesOf } from "../watch/procfs.mjs";

export const strikes = "window";
export const rare = true; // a life must be long enough for its curves

export async function strike(soak) {
  const window = soak.subjects.get("window");
  const { life } = window;
  await window.disturb(async () => {
    const before = processesOf(window.folder).map(({ pid }) => pid);
    window.xvfb.kill("SIGKILL");
    const left = () => processesOf(window.folder).filter(({ pid }) => before.includes(pid));
    await until(() => left().length === 0 || soak.ended, "the window without a display to end", 20_000);
    await until(() => window.life > life || soak.ended, "the next window");
  });
  return "killed, opened on another";
}
