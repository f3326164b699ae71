// What LiteRT prints: its errors say there what its exceptions do not. Client: litert.mjs.

const maxLines = 200;
const maxDetails = 6; // of an error; GPU delegates list every tensor

export class Log {
  #lines = [];

  add(text) {
    this.#lines.push(String(text).trim());
    if (this.#lines.length > maxLines) this.#lines.shift();
  }

  clear() {
    this.#lines = [];
  }

  /**
   * The errors since clear(), without the places in its source, each once, with the lines that belong to
   * them.
   */
  errors() {
    const found = []; // an error and the lines below it
    let inside = false;
    for (const line of this.#lines) {
      const level = /^(VERBOSE|INFO|WARNING|ERROR|FATAL)\b/.exec(line)?.[1];
      if (level) {
        inside = level === "ERROR" || level === "FATAL";
        if (inside) found.push([line.replace(/^\w+: (\[[^\]]*\] )?/, "")]);
      } else if (inside && line) {
        found.at(-1).push(line);
      }
    }
    const texts = found.map((lines) => {
      const left = lines.length - 1 - maxDetails;
      return lines.slice(0, 1 + maxDetails).join(" ") + (left > 0 ? ` (and ${left} more)` : "");
    });
    return [...new Set(texts)].join("; ");
  }
}
