// The sections of a WebAssembly module, as far as splitting one needs them. Clients: profile_engine.mjs,
// split_engine.mjs. Source: the core specification, "Binary Format"; the name section's in its appendix.

const sectionIds = { custom: 0, types: 1, imports: 2, functions: 3 };
const functionType = 0x60;
const v128 = 0x7b;
const importKinds = { function: 0, table: 1, memory: 2, global: 3, tag: 4 };

class Reader {
  #bytes;
  at;
  end;

  constructor(bytes, at = 0, end = bytes.length) {
    [this.#bytes, this.at, this.end] = [bytes, at, end];
  }

  byte() {
    if (this.at >= this.end)
      throw new Error(`the WebAssembly module ends at byte ${this.at}, inside a section`);
    return this.#bytes[this.at++];
  }

  /** LEB128; every number that is read here has at most 32 bits. */
  number() {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.byte();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
  }

  /** The next `size` bytes. */
  part(size) {
    const from = this.at;
    this.at += size;
    if (this.at > this.end) throw new Error(`the WebAssembly module is cut off at byte ${this.end}`);
    return new Reader(this.#bytes, from, this.at);
  }

  text() {
    const { at, end } = this.part(this.number());
    return new TextDecoder().decode(this.#bytes.subarray(at, end));
  }

  limits() {
    if (this.number() & 1) this.number();
    this.number();
  }
}

/** Whether each type has a vector among its parameters and results. */
function typesWithVectors(reader) {
  const list = () => Array.from({ length: reader.number() }, () => reader.byte());
  return Array.from({ length: reader.number() }, () => {
    if (reader.byte() !== functionType)
      throw new Error("the WebAssembly module has a type that is no function");
    return [...list(), ...list()].includes(v128);
  });
}

function importedFunctions(reader) {
  let functions = 0;
  for (let left = reader.number(); left > 0; --left) {
    reader.text();
    reader.text();
    const kind = reader.byte();
    if (kind === importKinds.function) ++functions;
    if (kind === importKinds.table) reader.byte();
    if (kind === importKinds.table || kind === importKinds.memory) reader.limits();
    else if (kind === importKinds.global) {
      reader.byte();
      reader.byte();
    } else if (kind === importKinds.tag) reader.byte();
    if (kind === importKinds.function || kind === importKinds.tag) reader.number();
  }
  return functions;
}

// Functions of the same name, static ones of several files say, have it with their index: another one in each
// build. They count as the same.
const withoutIndex = (name) => name.replace(/_\d+$/, "");

function functionNames(reader) {
  const names = new Map();
  while (reader.at < reader.end) {
    const kind = reader.byte();
    const part = reader.part(reader.number());
    if (kind !== 1) continue;
    for (let left = part.number(); left > 0; --left) {
      const index = part.number();
      names.set(index, withoutIndex(part.text()));
    }
  }
  return names;
}

/**
 * {functions, nameless}: the functions that the module defines, in their order, as {name, vectors}, whether
 * one of their parameters or results is a v128; the module without the section that has their names.
 */
export function readWasm(bytes) {
  const reader = new Reader(bytes, 8);
  let vectors = [];
  let imported = 0;
  let types = [];
  let names = new Map();
  const kept = [bytes.subarray(0, 8)];
  while (reader.at < reader.end) {
    const begin = reader.at;
    const id = reader.byte();
    const section = reader.part(reader.number());
    if (id === sectionIds.types) vectors = typesWithVectors(section);
    if (id === sectionIds.imports) imported = importedFunctions(section);
    if (id === sectionIds.functions) types = Array.from({ length: section.number() }, () => section.number());
    if (id === sectionIds.custom && section.text() === "name") names = functionNames(section);
    else kept.push(bytes.subarray(begin, reader.at));
  }
  const functions = types.map((type, i) => ({ name: names.get(imported + i), vectors: vectors[type] }));
  return { functions, nameless: Buffer.concat(kept) };
}
