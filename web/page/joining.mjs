// The page of a hub's link: says what will happen, and joins when its button is pressed. Nothing before it
// uses the link up: programs that show previews of links open them, too. Client: page.mjs.
import { root } from "./choice.mjs";
import { suggestedName } from "./device_facts.mjs";
import { $ } from "./view.mjs";

const used =
  "This link was used by another browser, or is too old. driftscope devices --invite, on the PC, makes one.";

async function ask(name) {
  const body = JSON.stringify({ name });
  let response;
  try {
    response = await fetch(new URL("api/hub/join", root), { method: "POST", body, cache: "no-store" });
  } catch {
    throw new Error("The PC does not answer. Is driftscope serve --hub still running?");
  }
  if (response.status === 403 || response.status === 404) throw new Error(used);
  if (!response.ok)
    throw new Error((await response.text()).trim() || `The PC answered HTTP ${response.status}.`);
  return (await response.json()).name;
}

/** Resolves to the name under which this browser has joined the hub of `pc`, "" where it does not say. */
export async function joinByButton(here, pc) {
  const title = pc ? `Let ${pc} run models here?` : "Let a PC run models here?";
  document.body.classList.add("joining");
  document.title = `Join · Driftscope`;
  $("tagline").textContent = "A link to join a PC's hub.";
  $("join-title").textContent = title;
  $("join-pc").textContent = `The PC ${pc ? `calls itself ${pc}, at` : "is at"} ${location.host}.`;
  const field = $("join-name");
  field.value = await suggestedName(here);
  $("join-card").hidden = false;
  const name = await new Promise((resolve) => {
    $("join-form").addEventListener("submit", async (event) => {
      event.preventDefault();
      if ($("join").disabled) return;
      $("join").disabled = true;
      $("join-state").classList.remove("error");
      $("join-state").textContent = "Joining…";
      try {
        resolve(await ask(field.value));
      } catch (error) {
        $("join-state").textContent = error.message;
        $("join-state").classList.add("error");
        $("join").disabled = false;
      }
    });
  });
  $("join-card").hidden = true;
  document.body.classList.remove("joining");
  return name;
}
