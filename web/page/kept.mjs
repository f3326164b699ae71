// Models and past runs that the browser keeps: shows and deletes them. Client: page.mjs.
import * as history from "./history.mjs";
import { clear, list } from "./store.mjs";
import { $, bytesText } from "./view.mjs";

export async function showKept() {
  const models = await list();
  const total = models.reduce((sum, { bytes }) => sum + bytes, 0);
  const counted = (count, what) => `${count} ${what}${count === 1 ? "" : "s"}`;
  const kept = [
    ...(models.length > 0 ? [`${counted(models.length, "model")}, ${bytesText(total)}`] : []),
    ...(history.count() > 0 ? [`the times of ${counted(history.count(), "run")}`] : []),
  ];
  $("kept").hidden = kept.length === 0;
  $("kept-text").textContent = `This browser keeps ${kept.join(", and ")}.`;
  $("kept-text").title = models.map(({ name, bytes }) => `${name}: ${bytesText(bytes)}`).join("\n");
}

/** `cleared` is called when everything has been deleted. */
export function listenToClear(cleared) {
  $("clear").addEventListener("click", async () => {
    await clear();
    history.clear();
    await showKept();
    cleared();
  });
}
