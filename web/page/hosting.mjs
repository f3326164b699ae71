// What the page shows of its hosting: why there is only one thread, a newer build. The work is done
// by start.js, before the modules. Client: page.mjs.
import { $ } from "./view.mjs";

/** {session, registration, single} of start.js, as soon as the page may go on. */
export const host = () => self.driftscopeHost;

function showNotice(text, action) {
  $("hosting").hidden = false;
  $("hosting-text").textContent = text;
  $("hosting-reload").hidden = !action;
}

/** A newer build that waits for this page to be opened again. */
function watchForNewBuild(registration) {
  const look = () => {
    if (registration.waiting && registration.active)
      showNotice(
        "A newer build of this page is available. " +
          "It is used from the next load on, once no other tab shows this page.",
        true,
      );
  };
  look();
  registration.addEventListener("updatefound", () =>
    registration.installing?.addEventListener("statechange", look),
  );
}

export function showHosting({ session, registration, single }) {
  $("hosting-reload").addEventListener("click", () => location.reload());
  if (session.hosting !== "static") return;
  if (single)
    showNotice(
      `One thread only, so that engines are slower here: this host does not isolate the page, and ${single}.`,
      false,
    );
  if (registration) watchForNewBuild(registration);
}
