// The browser's GPU process is killed: WebGL contexts and WebGPU devices are lost. The page says so where a
// run needed them, and the next run on them works, in the same page.
import { signal } from "../striking.mjs";

export const strikes = "page";
export const weight = 2;

export async function strike(soak, random) {
  const page = soak.subjects.get("page");
  await soak.sleep(random.between(0, 1500));
  let count = 0;
  await page.disturb(async () => {
    count = signal(page.processes("gpu-process"), "SIGKILL");
    await soak.sleep(1500);
  });
  return `${count} processes`;
}
