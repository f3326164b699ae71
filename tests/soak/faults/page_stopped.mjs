// The page's process, the GPU process or the whole browser is stopped for some seconds, then continues: so
// does the run.
import { signal } from "../striking.mjs";

export const strikes = "page";
export const weight = 2;

export async function strike(soak, random) {
  const page = soak.subjects.get("page");
  const kind = random.pick(["renderer", "gpu-process", ""]);
  const seconds = random.between(1, 6);
  const { failures, disturbed } = page;
  const stopped = page.processes(kind);
  await page.disturb(async () => {
    signal(stopped, "SIGSTOP");
    await soak.sleep(1000 * seconds);
    signal(stopped, "SIGCONT");
  });
  const failed = page.failures + page.disturbed - failures - disturbed;
  // Chromium ends a GPU process that does not answer.
  if (failed > 0 && kind !== "gpu-process")
    throw new Error(`a run failed since ${kind || "the browser"} stood still`);
  return `${kind || "the browser"} for ${seconds.toFixed(1)} s, ${failed} runs failed`;
}
