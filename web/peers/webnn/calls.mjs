// The calls of an MLGraphBuilder as JavaScript that makes the same graph on a plain page, for reports to
// makers of browsers. Client: session.mjs. In the text `builder`, `types` (of inputs, by name) and
// `load("NAME.npy")` are the page's.

const arrays = {
  float32: Float32Array,
  float16: Uint16Array, // their bits
  int32: Int32Array,
  uint32: Uint32Array,
  int64: BigInt64Array,
  uint64: BigUint64Array,
  int8: Int8Array,
  uint8: Uint8Array,
};

const inlineBytes = 256; // constants that are longer are files

const isIdentifier = (name) => /^[A-Za-z]\w*$/.test(name);
const bytesOf = (data) =>
  ArrayBuffer.isView(data)
    ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    : new Uint8Array(data);
const equal = (a, b) => a.length === b.length && a.every((byte, i) => byte === b[i]);

export class Calls {
  #lines = [];
  #names = new Map(); // of operands
  #constants; // {dtype, shape, data} by name

  /** `constants`: of the graph, files beside the page. */
  constructor(constants) {
    this.#constants = constants;
  }

  /** The builder, whose calls are noted. */
  around(builder) {
    return new Proxy(builder, {
      get: (target, method) => {
        const own = target[method];
        if (typeof own !== "function") return own;
        return (...given) => this.#made(method, given, own.apply(target, given));
      },
    });
  }

  /** All of them, and build(). */
  text(outputs) {
    const parts = Object.entries(outputs).map(([name, operand]) => {
      const made = this.#names.get(operand);
      return isIdentifier(name) ? `const ${name} = ${made};\n` : "";
    });
    const list = Object.entries(outputs).map(([name, operand]) =>
      isIdentifier(name) ? name : `${JSON.stringify(name)}: ${this.#names.get(operand)}`,
    );
    const build = `const graph = await builder.build({ ${list.join(", ")} });\n`;
    return this.#lines.join("") + parts.join("") + build;
  }

  #made(method, given, result) {
    if (method === "build") return result;
    if (method === "input") return this.#input(given, result);
    const values = given.map((value, i) =>
      method === "constant" && i === 1 ? this.#data(given[0], value) : this.#written(value),
    );
    const results = Array.isArray(result) ? result : [result];
    const names = results.map((operand) => this.#named(operand));
    const left = Array.isArray(result) ? `[${names.join(", ")}]` : names[0];
    this.#lines.push(`const ${left} = builder.${method}(${values.filter((text) => text).join(", ")});\n`);
    return result;
  }

  #named(operand) {
    const name = `o${this.#names.size}`;
    this.#names.set(operand, name);
    return name;
  }

  #input([name, type], operand) {
    const quoted = JSON.stringify(name);
    this.#lines.push(
      `types[${quoted}] = ${this.#written(type)};\n`,
      `const ${this.#named(operand)} = builder.input(${quoted}, types[${quoted}]);\n`,
    );
    return operand;
  }

  #data({ dataType }, data) {
    const bytes = bytesOf(data);
    if (bytes.length > inlineBytes)
      for (const [name, constant] of Object.entries(this.#constants))
        if (equal(bytes, constant.data)) return `(await load(${JSON.stringify(name + ".npy")})).data`;
    const Kind = arrays[dataType] ?? Uint8Array;
    const numbers = Array.from(new Kind(bytes.slice().buffer), (number) => this.#written(number));
    return `new ${Kind.name}([${numbers.join(", ")}])`;
  }

  #written(value) {
    const operand = this.#names.get(value);
    if (operand) return operand;
    if (typeof value === "bigint") return `${value}n`;
    if (typeof value === "number") return Object.is(value, -0) ? "-0" : String(value);
    if (Array.isArray(value)) return `[${value.map((item) => this.#written(item)).join(", ")}]`;
    if (value === null || typeof value !== "object") return JSON.stringify(value);
    const fields = Object.entries(value).filter(([name]) => name !== "label"); // the node, for messages
    return fields.length === 0
      ? ""
      : `{ ${fields.map(([name, item]) => `${name}: ${this.#written(item)}`).join(", ")} }`;
  }
}
