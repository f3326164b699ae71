// Bodies that are sent over a slow network, packed where that is faster than sending them as they are.
// Client: values.mjs.

const shortest = 4096; // bytes; of less there is nothing to gain
const tryAgainAfter = 32; // bodies

/** The bytes as gzip, or null where this browser cannot. */
async function gzip(bytes) {
  if (typeof CompressionStream === "undefined") return null;
  const packing = new Blob([bytes]).stream().pipeThrough(new CompressionStream("gzip"));
  return new Uint8Array(await new Response(packing).arrayBuffer());
}

/**
 * Decides by what it has seen: the first body goes as it is, which tells how fast the network is, the second
 * packed, which tells how fast packing is and how much it saves; now and then both are tried again.
 */
export class Packing {
  #now;
  #count = 0;
  #networkMs = 0; // for each byte
  #packingMs = 0; // the same
  #saved = 0; // share of the bytes

  constructor(now = () => performance.now()) {
    this.#now = now;
  }

  /** {body, query}: what to send, and the parameter of the address that says how many bytes it holds. */
  async pack(bytes) {
    const plain = { body: bytes, query: "" };
    if (bytes.length < shortest) return plain;
    const turn = this.#count++ % tryAgainAfter;
    if (turn === 0 || (turn > 1 && this.#saved * this.#networkMs <= this.#packingMs)) return plain;
    const begin = this.#now();
    const body = await gzip(bytes);
    if (!body) return plain;
    this.#packingMs = (this.#now() - begin) / bytes.length;
    this.#saved = 1 - body.length / bytes.length;
    return this.#saved > 0 ? { body, query: `&unpacked=${bytes.length}` } : plain;
  }

  /** So many bytes took so long. */
  sent(bytes, milliseconds) {
    if (bytes >= shortest) this.#networkMs = milliseconds / bytes;
  }
}
