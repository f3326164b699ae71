// This browser as a device of a hub (native/http/hub.hpp): says that it is there, runs the jobs that it is
// given, and after a reload says during which job its page ended. Client: page.mjs.
import { root } from "./choice.mjs";
import { Conditions } from "./conditions.mjs";
import { describe, identify } from "./device_facts.mjs";
import { runJob } from "./job.mjs";
import { JobRecord } from "./job_record.mjs";
import { $, showDevice, showSeen } from "./view.mjs";

const restMs = 1000; // between two signs of life
const soonMs = 200; // while the next job may follow at once
const longestRestMs = 5000; // while the hub does not answer

const hereUrl = new URL("api/hub/here", root);

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

export class Device {
  #about;
  #here;
  #name;
  #wanted;
  #job = null;
  #record = new JobRecord();
  #conditions = new Conditions(() => this.#say().catch(() => {}));
  #lost = JobRecord.lost();
  #left = false;
  #show;

  /** `show` = {job, change, result(result), error(error)} as for jobs; `name`: empty where it has none. */
  constructor(here, name, show) {
    this.#here = here;
    this.#name = name;
    this.#show = show;
  }

  /** Until it leaves. */
  async run(variant) {
    // So that traces say it as well: of Chrome's version, the user agent has the first part alone.
    this.#here = { ...this.#here, device: await identify(this.#here) };
    this.#about = await describe(this.#here, variant);
    await this.#conditions.watch();
    showSeen(this.#conditions.untold);
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
    if (this.#job) Object.assign(said, { job: this.#job, conditions: this.#conditions.facts() });
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
    await this.#conditions.begin();
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
        // Whoever waits for the result asks for them next.
        sending: () => this.#say().catch(() => {}),
        pieces: true,
      });
      this.#show.result(result);
    } catch (error) {
      this.#show.error(error);
    } finally {
      clearInterval(beside);
      this.#record.end();
      this.#job = null;
      await this.#conditions.end();
    }
  }

  async #leave() {
    await this.#say({ leaving: true }).catch(() => {});
    this.#left = true;
    showDevice({ name: this.#name, state: "Left. A new link lets it join again.", left: true });
  }
}
