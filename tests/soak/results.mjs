// Results that are already there: files whose bytes must not change, whatever happens later. The oldest
// make room for new ones.
import { copyFileSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { basename, join } from "node:path";

import { sha256 } from "../e2e/support.mjs";

const maxKept = 24;

export class Results {
  #kept = new Map(); // path → SHA-256
  #count = 0;

  constructor(folder) {
    this.folder = folder;
    mkdirSync(folder, { recursive: true });
  }

  /** Keeps the file where it is. */
  keep(path) {
    this.#kept.set(path, sha256(readFileSync(path)));
    if (this.#kept.size <= maxKept) return;
    const [oldest] = this.#kept.keys();
    this.#kept.delete(oldest);
    rmSync(oldest, { force: true });
  }

  /** Keeps a copy of a file whose folder will be removed. */
  keepCopy(path) {
    const copy = join(this.folder, `${++this.#count}-${basename(path)}`);
    copyFileSync(path, copy);
    this.keep(copy);
  }

  /** What is not as it was: ["PATH: is gone", …]. */
  damage() {
    const damaged = [];
    for (const [path, digest] of this.#kept)
      try {
        if (sha256(readFileSync(path)) !== digest) damaged.push(`${path}: other bytes`);
      } catch (error) {
        damaged.push(`${path}: ${error.code}`);
      }
    return damaged;
  }

  get size() {
    return this.#kept.size;
  }
}
