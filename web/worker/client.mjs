// The session service from JavaScript: a method for each request of core/protocol/messages.json, which checks
// request and response by the schema's tables (messages.mjs, made by the build), and the checks of
// documents and events. Clients: engine.mjs, worker.mjs, batch.mjs, bench.mjs, job.mjs.
import { packMessage, unpackMessage } from "../shared/message.mjs";

/**
 * An error response of the service, with its kind. `stuck`: the same may succeed in another worker.
 */
export class ServiceError extends Error {
  constructor({ kind, message, stuck = false }) {
    super(message);
    this.kind = kind;
    this.stuck = stuck;
  }
}

const isFact = (value) => value === null || ["string", "number", "boolean"].includes(typeof value);

const kinds = {
  text: { expected: () => "a string", fits: (value) => typeof value === "string" },
  flag: { expected: () => "true or false", fits: (value) => typeof value === "boolean" },
  number: { expected: () => "a number", fits: (value) => typeof value === "number" },
  any: { expected: () => "a value", fits: () => true },
  bytes: { expected: () => "bytes", fits: (value) => ArrayBuffer.isView(value) },
  facts: {
    expected: () => "an object of strings, numbers or booleans",
    fits: (value) => typeof value === "object" && Object.values(value).every(isFact),
  },
  whole: {
    expected: ({ min = 0, max = 2 ** 63 }) => `a whole number in [${min}, ${max}]`,
    // Above 2⁵³ a number is ambiguous.
    fits: (value, { min = 0, max = 2 ** 63 }) => Number.isInteger(value) && value >= min && value <= max,
  },
};

const shown = (value) =>
  Array.isArray(value) ? "a list" : value && typeof value === "object" ? "an object" : JSON.stringify(value);

/** Throws a ServiceError that names `where` and the field that is unknown, missing or wrong. */
export function checkFields({ enums, objects }, where, fields, value) {
  const fail = (text) => {
    throw new ServiceError({ kind: "bad_input", message: `${where}: ${text}` });
  };
  const checkOne = (name, field, type, one) => {
    if (objects[type]) {
      if (one === null || typeof one !== "object")
        fail(`field "${name}": expected an object "${type}", got ${shown(one)}`);
      return checkFields({ enums, objects }, `${where}: ${name}`, objects[type].fields, one);
    }
    const choices = enums[type];
    const fits = choices ? choices.includes(one) : kinds[type].fits(one, field);
    const expected = () =>
      choices ? `one of ${choices.map((choice) => `"${choice}"`).join(", ")}` : kinds[type].expected(field);
    if (!fits) fail(`field "${name}": expected ${expected()}, got ${shown(one)}`);
  };
  const names = fields.map(({ name }) => name);
  for (const [name, given] of Object.entries(value))
    if (given !== undefined && !names.includes(name))
      fail(`unknown field "${name}"; expected ${names.join(", ") || "none"}`);
  for (const field of fields) {
    const { name, optional, nullable } = field;
    const given = value[name];
    const list = field.type.endsWith("[]");
    const type = list ? field.type.slice(0, -2) : field.type;
    if (given === undefined || (given === null && (list || type !== "any"))) {
      if (given === null && nullable) continue;
      if (!optional && !("default" in field)) fail(`field "${name}" is missing`);
    } else if (list) {
      if (!Array.isArray(given)) fail(`field "${name}": expected a list, got ${shown(given)}`);
      given.forEach((one, i) => checkOne(`${name}[${i}]`, field, type, one));
    } else checkOne(name, field, type, given);
  }
}

const checker = (group, word) => (messages, name, value) => {
  const spec = messages[group][name];
  if (!spec) {
    const known = Object.keys(messages[group]).join(", ");
    throw new ServiceError({
      kind: "bad_input",
      message: `there is no ${word} "${name}"; there are ${known}`,
    });
  }
  checkFields(messages, `${word} "${name}"`, spec.fields, value);
  return value;
};

/** Throws like checkFields if `value` is not the document of this name, such as "job"; returns it. */
export const checkDocument = checker("documents", "document");
/** The same for an event of a worker. */
export const checkEvent = checker("events", "event");

/** The same for the response to a request. */
export function checkResponse(messages, request, head) {
  checkFields(messages, `response to "${request}"`, messages.requests[request].response, head);
  return head;
}

/**
 * `messages` as in messages.mjs; `exchange(bytes)` returns the response's bytes. For each request, as
 * `client.load(fields, payload)`: {head, payload}.
 */
export class ServiceClient {
  #messages;
  #exchange;

  constructor(messages, exchange) {
    this.#messages = messages;
    this.#exchange = exchange;
    for (const name of Object.keys(messages.requests))
      this[name] = (fields, payload) => this.send(name, fields, payload);
  }

  send(name, fields = {}, payload = new Uint8Array(0)) {
    const spec = this.#messages.requests[name];
    if (!spec) {
      const known = Object.keys(this.#messages.requests).join(", ");
      throw new ServiceError({
        kind: "bad_input",
        message: `there is no request "${name}"; there are ${known}`,
      });
    }
    checkFields(this.#messages, `request "${name}"`, spec.fields, fields);
    const reply = unpackMessage(this.#exchange(packMessage({ do: name, ...fields }, [payload])));
    if (reply.head.error) throw new ServiceError(reply.head.error);
    checkResponse(this.#messages, name, reply.head);
    return reply;
  }
}
