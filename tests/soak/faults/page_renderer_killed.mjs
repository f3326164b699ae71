// The page's own process is killed, as the kernel does when memory runs out; a new page in the same browser
// works.
import { signal } from "../striking.mjs";

export const strikes = "page";

export async function strike(soak, random) {
  const page = soak.subjects.get("page");
  await soak.sleep(random.between(0, 1000));
  let count = 0;
  await page.disturb(async () => {
    count = signal(page.processes("renderer"), "SIGKILL");
    await soak.sleep(1000);
  });
  return `${count} processes`;
}
