// A model that wants more memory than a page can have: the page says so, and the next run works in the same
// page.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { chain } from "../../e2e/tiny_onnx.mjs";

export const strikes = "page";

export async function strike(soak, random) {
  const page = soak.subjects.get("page");
  const file = join(page.folder, "wide.onnx");
  // One value beyond what an engine may take, or two that together are.
  const elements = random.pick([1 << 30, (1 << 29) - 16]);
  writeFileSync(file, chain("Relu", 2, [1, elements]));
  let said = "";
  await page.exclusively(async () => {
    await page.page.locator("#file").setInputFiles(file);
    await page.page.locator("#seed-note").waitFor();
    // Our own: what other runtimes say then is theirs.
    await page.page.locator("#engine").selectOption(random.pick(["strict", "fast", "reference", "webgl"]));
    await page.page.locator("#start:enabled").click();
    await page.page.locator("#error:visible").waitFor({ timeout: 120_000 });
    said = await page.page.locator("#error").innerText();
  });
  if (!/memory|limit|bad_alloc/i.test(said)) throw new Error(`out of memory, but the page says: ${said}`);
  return said.slice(0, 120);
}
