// What LiteRT prints: its errors say there what its exceptions do not. Client: litert.mjs.

const maxLines = 200;

export class Log {
  #lines = [];

  add(text) {
    this.#lines.push(String(text).trim());
    if (this.#lines.length > maxLines) this.#lines.shift();
  }

  clear() {
    this.#lines = [];
  }

  /** The errors since clear(), without the places in its source, each once. */
  errors() {
    const found = this.#lines
      .filter((line) => /^(ERROR|FATAL)\b/.test(line))
      .map((line) => line.replace(/^\w+: (\[[^\]]*\] )?/, ""));
    return [...new Set(found)].join("; ");
  }
}
