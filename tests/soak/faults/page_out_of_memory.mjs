// A model that wants more memory than a page can have: the page says so, and the next run works in the same
// page.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { chain } from "../../e2e/tiny_onnx.mjs";

export const strikes = "page";

export async function strike(soak, random) {
  const page = soak.subjects.get("page");
  const file = join(page.folder, "wide.onnx");
  // 12 values of 1 GiB: more than 32 bits can address.
  writeFileSync(file, chain("Relu", 12, [random.pick([1, 2, 4]), 1 << 28]));
  let said = "";
  await page.exclusively(async () => {
    await page.page.locator("#file").setInputFiles(file);
    await page.page.locator("#seed-note").waitFor();
    await page.page.locator("#start:enabled").click();
    await page.page.locator("#error:visible").waitFor({ timeout: 120_000 });
    said = await page.page.locator("#error").innerText();
  });
  if (!/memory/i.test(said)) throw new Error(`out of memory, but the page says: ${said}`);
  return said.slice(0, 120);
}
