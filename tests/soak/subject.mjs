// Something that does runs all the time: the loop, and what a fault does to it. A run that a fault
// disturbed may fail; after it the next one must work.
export class Subject {
  runs = 0;
  failures = 0; // of runs that no fault explains
  disturbed = 0; // runs that failed because of a fault
  life = 0; // how often its process was started: curves start over
  curves = []; // {name, kind (trend.mjs), read()}: undefined where there is nothing to read
  limit = 180_000; // a run that takes longer hangs
  #striking = 0;
  #calm = 0; // since when nothing strikes
  #good = -1; // when the last good run began

  constructor(soak, name) {
    this.soak = soak;
    this.name = name;
    this.random = soak.random(name);
  }

  async start() {}
  async step() {}
  /** After a run that failed: makes the next one possible. */
  async recover() {}
  async end() {}
  /** Removes what is left of the process that just failed; returns its last output. */
  lastWords() {
    return "";
  }

  async loop() {
    while (!this.soak.ended) {
      const began = this.soak.now;
      try {
        await limited(this.step(), this.limit, "a run");
        this.runs += 1;
        this.#good = began;
      } catch (error) {
        if (this.soak.ended) return;
        this.#failed(error, began);
        await limited(this.recover(), this.limit, "starting again").catch((failure) =>
          this.#failed(failure, began),
        );
        await this.soak.sleep(500);
      }
    }
  }

  #failed(error, began) {
    const text = `${error?.message ?? error}`.split("\n").slice(0, 6).join("\n");
    if (this.#striking > 0 || this.#calm > began) {
      this.disturbed += 1;
      this.soak.event(`${this.name}: disturbed: ${text}`);
      return;
    }
    this.failures += 1;
    this.soak.find(this.name, text, `${error?.log ?? this.lastWords()}\n${error?.stack ?? ""}`);
  }

  /** Runs during `work` may fail. Then the next one must work within `limit` milliseconds. */
  async disturb(work, limit = 120_000) {
    this.#striking += 1;
    let result;
    try {
      result = await work();
    } finally {
      this.#calm = this.soak.now;
      this.#striking -= 1;
    }
    const calm = this.#calm;
    while (this.#good < calm && !this.soak.ended) {
      // Another fault may follow at once.
      if (this.soak.now - calm > limit / 1000)
        throw new Error(`the next run of ${this.name} did not work within ${limit / 1000} s`);
      await this.soak.sleep(100);
    }
    return result;
  }
}

export async function limited(promise, milliseconds, what) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`${what} hangs: nothing within ${milliseconds / 1000} s`)),
      milliseconds,
    );
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
