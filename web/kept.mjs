// What the browser keeps of models, shown and cleared. Client: page.mjs.
import { clear, list } from "./store.mjs";
import { $, bytesText } from "./view.mjs";

export async function showKept() {
  const models = await list();
  const total = models.reduce((sum, { bytes }) => sum + bytes, 0);
  $("kept").hidden = models.length === 0;
  const count = `${models.length} model${models.length === 1 ? "" : "s"}`;
  $("kept-text").textContent = `This browser keeps ${count}, ${bytesText(total)}.`;
  $("kept-text").title = models.map(({ name, bytes }) => `${name}: ${bytesText(bytes)}`).join("\n");
}

export function listenToClear() {
  $("clear").addEventListener("click", async () => {
    await clear();
    await showKept();
  });
}
