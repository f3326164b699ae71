// Random numbers from the printed seed: each part of the soak draws from a stream of its own, so that what
// one part chooses does not depend on how fast the others are.
export class Random {
  #state;

  constructor(seed, name) {
    let hash = 2166136261 ^ seed;
    for (const c of name) hash = Math.imul(hash ^ c.codePointAt(0), 16777619);
    this.#state = hash >>> 0;
  }

  /** In [0, 1): mulberry32. */
  next() {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  }

  between(low, high) {
    return low + (high - low) * this.next();
  }

  whole(low, high) {
    return low + Math.floor((high - low + 1) * this.next());
  }

  pick(list) {
    return list[Math.floor(this.next() * list.length)];
  }

  chance(probability) {
    return this.next() < probability;
  }

  /** One of [[value, weight], …]. */
  weighted(choices) {
    let at = this.next() * choices.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [value, weight] of choices) if ((at -= weight) < 0) return value;
    return choices.at(-1)[0];
  }
}
