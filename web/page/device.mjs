// This browser as a device of a hub (native/http/hub.hpp): says that it is there, runs the jobs that it is
// given, and after a reload says during which job its page ended. Client: page.mjs.
import { environment } from "./capabilities.mjs";
import { root } from "./choice.mjs";
import { runJob } from "./job.mjs";
import { $, showDevice } from "./view.mjs";

const restMs = 1000; // between two signs of life
const soonMs = 200; // while the next job may follow at once
const longestRestMs = 5000; // while the hub does not answer
const writeMs = 400;

const hereUrl = new URL("api/hub/here", root);
// Of this device alone: its segment is in the path.
const lostKey = `driftscope job under way ${root.pathname}`;

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** What it is, in words that its owner knows: "Pixel 8"; "" where the browser does not say. */
async function modelOf() {
  const { userAgent, userAgentData, maxTouchPoints = 0 } = navigator;
  const wanted = ["model", "platformVersion"];
  const { model, platform, platformVersion } =
    (await userAgentData?.getHighEntropyValues(wanted).catch(() => null)) ?? {};
  const known = /iPhone|iPad|Android|Windows|Mac OS X|CrOS|Linux/.exec(userAgent)?.[0] ?? "";
  // An iPad says that it is a Mac, which has no touch screen.
  const isPad = known === "Mac OS X" && maxTouchPoints > 1;
  return {
    model: model || (isPad ? "iPad" : /iPhone|iPad/.test(known) ? known : ""),
    platform: platform ? `${platform} ${platformVersion ?? ""}`.trim() : isPad ? "iPadOS" : known,
  };
}

async function adapterOf() {
  const info = (await navigator.gpu?.requestAdapter().catch(() => null))?.info;
  if (!info) return null;
  const parts = [info.vendor, info.architecture, info.device, info.description].filter(Boolean);
  return parts.length > 0 ? [...new Set(parts)].join(" ") : "not named by the browser";
}

function rendererOf() {
  const gl = document.createElement("canvas").getContext("webgl2");
  if (!gl) return null;
  const unmasked = gl.getExtension("WEBGL_debug_renderer_info")?.UNMASKED_RENDERER_WEBGL;
  const name = gl.getParameter(unmasked ?? gl.RENDERER);
  gl.getExtension("WEBGL_lose_context")?.loseContext();
  return String(name).slice(0, 200);
}

async function describe(here, variant) {
  return {
    ...environment(here, variant),
    ...(await modelOf()),
    adapter: await adapterOf(),
    renderer: rendererOf(),
    width: screen.width,
    height: screen.height,
    pixel_ratio: devicePixelRatio,
  };
}

/** Where a job is, kept so that it is known after the page was ended without a word. */
class JobRecord {
  #state = null;
  #writtenAt = 0;

  /** What an ended page has left; null: nothing. */
  static lost() {
    try {
      return JSON.parse(localStorage.getItem(lostKey));
    } catch {
      return null;
    }
  }

  static forget() {
    localStorage.removeItem(lostKey);
  }

  begin(job) {
    const state = (this.#state = { job, phase: "open", hidden: document.hidden });
    this.#write();
    // It may take the browser half a minute, until it collects garbage.
    const measured = self.crossOriginIsolated && performance.measureUserAgentSpecificMemory?.();
    measured?.then(({ bytes }) => (state.memory_bytes = bytes)).catch(() => {});
  }

  change({ phase, done, total, sample, samples }) {
    if (!this.#state || phase === "fetch") return; // whose total is bytes
    const isNew = phase !== undefined && phase !== this.#state.phase;
    Object.assign(this.#state, isNew ? { phase } : {}, { hidden: document.hidden });
    for (const [name, value] of Object.entries({ done, total, sample, samples }))
      if (Number.isInteger(value)) this.#state[name] = value;
    if (isNew || performance.now() - this.#writtenAt > writeMs) this.#write();
  }

  end() {
    this.#state = null;
    JobRecord.forget();
  }

  #write() {
    this.#writtenAt = performance.now();
    try {
      localStorage.setItem(lostKey, JSON.stringify(this.#state));
    } catch {
      // Full, or forbidden: then a lost page is only silent.
    }
  }
}

/** Keeps the screen on during a job, where the browser allows that. */
async function keepAwake() {
  try {
    return await navigator.wakeLock?.request("screen");
  } catch {
    return null;
  }
}

export class Device {
  #about;
  #here;
  #name;
  #wanted;
  #job = null;
  #record = new JobRecord();
  #lost = JobRecord.lost();
  #left = false;
  #show;

  /** `show` = {job, change, result(result), error(error)} as for jobs; `name`: empty the first time. */
  constructor(here, name, show) {
    this.#here = here;
    this.#name = name;
    this.#show = show;
  }

  /** Until it leaves. */
  async run(variant) {
    this.#about = await describe(this.#here, variant);
    if (!this.#name) this.#wanted = this.#about.model || this.#about.platform || this.#here.host;
    addEventListener("visibilitychange", () => this.#say().catch(() => {}));
    $("device-leave").addEventListener("click", () => this.#leave());
    $("device-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.#wanted = $("device-name").value;
      this.#say().catch((error) => showDevice({ name: this.#name, state: error.message, wrong: true }));
    });
    let silentSince = null;
    let rest = restMs;
    while (!this.#left) {
      try {
        const { job } = await this.#say();
        silentSince = null;
        rest = restMs;
        if (job) {
          await this.#runJob(job);
          rest = soonMs;
        }
      } catch (error) {
        if (this.#left) return;
        silentSince ??= performance.now();
        const seconds = Math.round((performance.now() - silentSince) / 1000);
        const state = `${error.message} Trying again, for ${seconds} s so far.`;
        showDevice({ name: this.#name, state, wrong: true });
        rest = Math.min(longestRestMs, 2 * rest);
      }
      await pause(rest);
    }
  }

  /** The hub's answer. */
  async #say(more = {}) {
    const said = { about: this.#about, visible: !document.hidden, ...more };
    if (this.#wanted) said.name = this.#wanted;
    if (this.#job) said.job = this.#job;
    if (this.#lost) said.lost = this.#lost;
    let response;
    try {
      response = await fetch(hereUrl, { method: "POST", body: JSON.stringify(said), cache: "no-store" });
    } catch {
      throw new Error("No connection to the PC.");
    }
    if (response.status === 403 || response.status === 404) {
      this.#left = true;
      showDevice({
        name: this.#name,
        state: "This device was removed. A new link lets it join again.",
        left: true,
      });
      throw new Error("This device was removed.");
    }
    if (!response.ok)
      throw new Error((await response.text()).trim() || `The PC answered HTTP ${response.status}.`);
    const welcome = await response.json();
    this.#wanted = undefined;
    if (this.#lost) {
      this.#lost = null;
      JobRecord.forget();
    }
    this.#name = welcome.name;
    if (!this.#job) showDevice({ name: this.#name, state: "Connected. The PC can run models here." });
    return welcome;
  }

  async #runJob(id) {
    this.#job = id;
    this.#record.begin(id);
    const awake = await keepAwake();
    // Jobs report by themselves; what only the hub wants to know is said beside them.
    const beside = setInterval(() => this.#say().catch(() => {}), 3 * restMs);
    try {
      const result = await runJob(id, this.#here, {
        job: (job) => {
          this.#show.job(job);
          showDevice({ name: this.#name, state: `Running ${job.model.name} as ${job.target}.` });
        },
        change: (state) => {
          this.#record.change(state);
          this.#show.change(state);
        },
        pieces: true,
      });
      this.#show.result(result);
    } catch (error) {
      this.#show.error(error);
    } finally {
      clearInterval(beside);
      this.#record.end();
      this.#job = null;
      await awake?.release().catch(() => {});
    }
  }

  async #leave() {
    await this.#say({ leaving: true }).catch(() => {});
    this.#left = true;
    showDevice({ name: this.#name, state: "Left. A new link lets it join again.", left: true });
  }
}
