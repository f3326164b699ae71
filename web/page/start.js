// Runs before the page's modules: on a static host, starts the service worker, which
// isolates it (threads need that) and keeps it for use without a network. `driftscope serve` isolates the
// page itself, and its address is temporary: there nothing is kept. A classic script and a .js: a host that
// does not know .mjs sends it with a type that browsers reject, until the service worker corrects that.
// Leaves a promise: self.driftscopeHost → {session, registration} or {session, single}, where `single`
// says in words why there is only one thread. Client: page.mjs, hosting.mjs.
"use strict";

self.driftscopeHost = (() => {
  const site = new URL("../../", document.currentScript.src);
  const mark = `driftscope reloaded for isolation ${site.pathname}`;
  let scriptFailed = false;

  // Error events of scripts that fail to load do not bubble.
  addEventListener("error", ({ target }) => (scriptFailed ||= target?.tagName === "SCRIPT"), true);

  /** Resolves when a service worker will control this page from its next load on. */
  function installed(registration) {
    const worker = registration.installing ?? registration.waiting;
    if (registration.active || !worker) return Promise.resolve();
    return new Promise((resolve, reject) => {
      worker.addEventListener("statechange", () => {
        if (worker.state === "activated") resolve();
        if (worker.state === "redundant")
          reject(new Error("a file of this site is missing or has other bytes than the site's list says"));
      });
    });
  }

  async function register() {
    const workers = navigator.serviceWorker;
    if (!workers && !self.isSecureContext) throw new Error("browsers allow service workers over https only");
    if (!workers) throw new Error("this browser has no service workers, or not in this window");
    const registration = await workers.register(new URL("service_worker.js", site));
    if (!registration) throw new Error("this browser rejects service workers");
    await installed(registration);
    return registration;
  }

  /** Only once in a row: a reload that did not help is not repeated. Does not return when it reloads. */
  async function reloadOnce() {
    if (sessionStorage.getItem(mark)) return sessionStorage.removeItem(mark);
    sessionStorage.setItem(mark, "yes");
    location.reload();
    return new Promise(() => {});
  }

  async function prepare() {
    // A job belongs to the waiting PC, not to a person.
    if (new URLSearchParams(location.search).has("job")) return { session: {} };
    const session = await fetch(new URL("api/session", site))
      .then((answer) => answer.json())
      .catch(() => ({}));
    if (session.hosting !== "static") return { session };
    const here = new URL(location.href);
    here.searchParams.delete("stay"); // for the service worker, valid for one load
    if (here.href !== location.href) history.replaceState(history.state, "", here);
    const manifest = { rel: "manifest", href: new URL("web/page/manifest.webmanifest", site) };
    document.head.append(Object.assign(document.createElement("link"), manifest));
    try {
      const registration = await register();
      if (!self.crossOriginIsolated || scriptFailed) await reloadOnce();
      else sessionStorage.removeItem(mark);
      if (self.crossOriginIsolated) return { session, registration };
      return {
        session,
        registration,
        single: "this browser does not isolate the page, although the service worker asks for it",
      };
    } catch (error) {
      return { session, single: self.crossOriginIsolated ? null : error.message };
    }
  }

  function tellOfScripts() {
    if (!scriptFailed) return;
    const place = document.getElementById("error");
    place.hidden = false;
    place.textContent =
      "A script of this page did not load. Either the connection broke off (reload the page), or this host " +
      "sends .mjs files with a type that is not JavaScript's: it has to send text/javascript.";
  }

  const prepared = prepare();
  prepared.finally(() =>
    document.readyState === "complete" ? tellOfScripts() : addEventListener("load", tellOfScripts),
  );
  return prepared;
})();
