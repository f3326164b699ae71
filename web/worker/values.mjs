// Captured values leaving the worker, in pieces (core/protocol/value_stream.hpp): to the waiting
// PC, or to the page. Client: worker.mjs.
import { packMessage } from "../shared/message.mjs";
import { RunError } from "../shared/errors.mjs";
import { insist } from "../shared/insist.mjs";
import { Packing } from "../shared/packing.mjs";

/** Posts pieces to `url`, one request at a time: the next piece waits for the previous one. */
export class ValuesToPc {
  #url;
  #again;
  #piece = 0;
  #underWay = Promise.resolve();
  #packing;

  /**
   * `again`: on a network that may break, a piece is sent again where no answer came, and packed where that
   * network is slow.
   */
  constructor(url, again = false) {
    this.#url = url;
    this.#again = again;
    this.#packing = again ? new Packing() : null;
  }

  /** Resolves when there is room for the next piece: the engine continues during the transfer. */
  async send(values, payload) {
    await this.#underWay;
    this.#underWay = this.#post(packMessage({ values }, [payload]));
    this.#underWay.catch(() => {}); // awaited by the next one, or by end
  }

  async #post(body) {
    const piece = this.#piece++;
    const packed = (await this.#packing?.pack(body)) ?? { body, query: "" };
    const url = `${this.#url}?piece=${piece}${packed.query}`;
    const post = async () => {
      const begin = performance.now();
      const response = await fetch(url, { method: "POST", body: packed.body });
      this.#packing?.sent(packed.body.length, performance.now() - begin);
      return response;
    };
    const response = await (this.#again ? insist(post) : post());
    // 409: the PC wants no further values, for its own reasons.
    if (response.status === 409) throw new RunError("cancelled", "The PC accepted no further values.");
    if (!response.ok) throw new RunError("io", `The PC rejected values: HTTP ${response.status}.`);
  }

  end() {
    return this.#underWay;
  }
}

/** Sends pieces to the page, which keeps them outside the JavaScript heap. */
export class ValuesToPage {
  #say;

  constructor(say) {
    this.#say = say;
  }

  async send(values, payload) {
    this.#say("values", { values, payload }, [payload.buffer]);
  }

  async end() {}
}
