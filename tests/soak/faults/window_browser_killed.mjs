// The browser of the window's run, or a part of it, is killed or stopped for a while: the window says so
// and its next run works.
import { browserProcesses, signal } from "../striking.mjs";
import { until } from "../programs.mjs";

export const strikes = "window";
export const weight = 2;

export async function strike(soak, random) {
  const window = soak.subjects.get("window");
  const part = random.pick(["browser", "renderer", "gpu", "every"]);
  const name = random.pick(["SIGKILL", "SIGSTOP"]);
  const { pid } = window;
  let count = 0;
  await window.disturb(async () => {
    await until(
      () => browserProcesses(window.folder, part).length > 0 || soak.ended,
      "a browser of the window",
    );
    const struck = browserProcesses(window.folder, part);
    count = signal(struck, name);
    await soak.sleep(random.between(1000, 5000));
    if (name === "SIGSTOP") signal(struck, "SIGCONT");
  }, 180_000);
  if (window.pid !== pid && !soak.ended)
    throw new Error(`the window ended: ${name} of ${part} of its browser`);
  return `${name}: ${count} processes (${part})`;
}
