// What disturbs a run on a device and shows in its times: a page in the background, a device that sleeps, a
// screen that may lock, a battery that runs low, a processor that is hot. Seen as far as a browser tells a
// page; what it does not tell is left out (run_conditions of core/protocol/documents). Client: device.mjs.

const tickMs = 1000;
// Timers are late by so much only where the browser ran nothing of the page; in the background it may let
// them wait for a minute.
const lateMs = 3000;
const lateHiddenMs = 65_000;
const framesWanted = 20;
const framesPatienceMs = 1500;

const pressures = ["nominal", "fair", "serious", "critical"];
const worse = (one, other) => (pressures.indexOf(other) > pressures.indexOf(one) ? other : one);

/** Frames per second; undefined where the page is not looked at, or nothing is drawn. */
function frameRate() {
  return new Promise((resolve) => {
    if (document.hidden) return resolve(undefined);
    const times = [];
    const end = (rate) => {
      clearTimeout(timer);
      resolve(document.hidden ? undefined : rate);
    };
    const timer = setTimeout(end, framesPatienceMs);
    const frame = (now) => {
      times.push(now);
      if (times.length <= framesWanted) return requestAnimationFrame(frame);
      const gaps = times.slice(1).map((time, index) => time - times[index]);
      gaps.sort((one, other) => one - other);
      end(Math.round(1e4 / gaps[gaps.length >> 1]) / 10);
    };
    requestAnimationFrame(frame);
  });
}

/** The processor's load and heat, all the time: what it was before a job says whether others disturb it. */
class Pressure {
  now = undefined;
  worst = undefined;

  async watch() {
    if (!("PressureObserver" in self)) return;
    const observer = new PressureObserver((records) => {
      this.now = records.at(-1)?.state;
      for (const { state } of records) this.worst = worse(this.worst, state);
    });
    await observer.observe("cpu", { sampleInterval: 2 * tickMs }).catch(() => {});
  }
}

export class Conditions {
  #pressure = new Pressure();
  #battery = null;
  #job = null; // what was seen of the one under way
  #lock = null; // of the screen
  #timer;
  #changed;

  /** `changed` is called when something is seen that cannot wait. */
  constructor(changed = () => {}) {
    this.#changed = changed;
  }

  /** Once: asks the browser what it tells. */
  async watch() {
    await this.#pressure.watch().catch(() => {});
    // Some browsers never answer.
    const late = new Promise((resolve) => setTimeout(resolve, tickMs, null));
    this.#battery = await Promise.race([navigator.getBattery?.().catch(() => null), late]);
    for (const event of ["visibilitychange", "freeze", "resume"])
      document.addEventListener(event, () => this.#look(event));
  }

  /** In words: what cannot be seen here. */
  get untold() {
    return [
      ["its battery", this.#battery],
      ["the processor's heat", "PressureObserver" in self],
      ["whether the screen stays on", navigator.wakeLock],
    ]
      .filter(([, told]) => !told)
      .map(([what]) => what);
  }

  async begin() {
    const now = performance.now();
    this.#job = {
      begin: now,
      seen: now,
      clock: Date.now(),
      hiddenMs: 0,
      stoppedMs: 0,
      hidden: document.hidden,
    };
    this.#job.pressureBefore = this.#pressure.now;
    this.#pressure.worst = this.#pressure.now;
    this.#timer = setInterval(() => this.#look("tick"), tickMs);
    const job = this.#job;
    frameRate().then((rate) => (job.framesPerSecond = rate));
    await this.#keepAwake();
  }

  async end() {
    clearInterval(this.#timer);
    this.#job = null;
    const lock = this.#lock;
    this.#lock = null;
    await lock?.release().catch(() => {});
  }

  /** Of the job so far, as a document run_conditions; undefined between jobs. */
  facts() {
    const job = this.#job;
    if (!job) return undefined;
    this.#count();
    const facts = {
      watched_ms: Math.round(job.watchedMs),
      hidden_ms: Math.round(job.hiddenMs),
      stopped_ms: Math.round(job.stoppedMs),
      frames_per_second: job.framesPerSecond,
      screen: job.screen,
      battery: this.#battery?.level,
      charging: this.#battery?.charging,
      pressure_before: job.pressureBefore,
      pressure: this.#pressure.worst,
    };
    return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined));
  }

  /** Keeps the screen on, where the browser allows that; it lets go of it when the page is hidden. */
  async #keepAwake() {
    const job = this.#job;
    if (!navigator.wakeLock) job.screen = "not_offered";
    else if (!document.hidden && !this.#lock)
      try {
        const lock = await navigator.wakeLock.request("screen");
        if (this.#job !== job) return void lock.release().catch(() => {});
        this.#lock = lock;
        job.screen ??= "kept_on";
        lock.addEventListener("release", () => {
          if (this.#lock !== lock) return;
          this.#lock = null;
          job.screen = "let_go";
        });
      } catch {
        job.screen ??= "refused"; // as battery savers have it
      }
  }

  /** The time since the last look is the background's if the page was there then. */
  #count() {
    const job = this.#job;
    const now = performance.now();
    const clock = Date.now();
    // The first stands still while a device sleeps, in some browsers.
    const passed = Math.max(now - job.seen, clock - job.clock);
    if (job.hidden) job.hiddenMs += passed;
    const late = job.frozen || passed > (job.hidden ? lateHiddenMs : lateMs);
    if (late) job.stoppedMs += Math.max(0, passed - tickMs);
    job.watchedMs = (job.watchedMs ?? 0) + passed;
    Object.assign(job, { seen: now, clock, hidden: document.hidden });
  }

  #look(event) {
    const job = this.#job;
    if (!job) return;
    this.#count();
    if (event === "freeze") job.frozen = true;
    if (event === "resume") job.frozen = false;
    if (event === "visibilitychange" && !document.hidden) this.#keepAwake();
    if (event === "freeze" || event === "resume") this.#changed();
  }
}
