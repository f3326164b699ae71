// The page's browser is killed; a new one on the same server goes on.
import { signal } from "../striking.mjs";

export const strikes = "page";
export const rare = true; // a life must be long enough for its curves

export async function strike(soak, random) {
  const page = soak.subjects.get("page");
  await soak.sleep(random.between(0, 1000));
  await page.disturb(async () => {
    signal(page.processes(""), "SIGKILL");
    await soak.sleep(500);
  });
  return "killed, started again";
}
