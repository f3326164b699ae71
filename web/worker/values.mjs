// Captured values leaving the worker, in pieces (core/protocol/value_stream.hpp): to the waiting
// PC, or to the page. Client: worker.mjs.
import { packMessage } from "../shared/message.mjs";
import { RunError } from "../shared/errors.mjs";
import { insist } from "../shared/insist.mjs";

/** Posts pieces to `url`, one request at a time: the next piece waits for the previous one. */
export class ValuesToPc {
  #url;
  #again;
  #piece = 0;
  #underWay = Promise.resolve();

  /** `again`: on a network that may break, a piece is sent again where no answer came. */
  constructor(url, again = false) {
    this.#url = url;
    this.#again = again;
  }

  /** Resolves when there is room for the next piece: the engine continues during the transfer. */
  async send(values, payload) {
    await this.#underWay;
    this.#underWay = this.#post(packMessage({ values }, [payload]));
    this.#underWay.catch(() => {}); // awaited by the next one, or by end
  }

  async #post(body) {
    const piece = this.#piece++;
    const post = () => fetch(`${this.#url}?piece=${piece}`, { method: "POST", body });
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
