// The client of the service: what it rejects before sending, and in responses.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { pathToFileURL } from "node:url";

import { packMessage, unpackMessage } from "../../../web/shared/message.mjs";
import {
  ServiceClient,
  ServiceError,
  checkDocument,
  checkEvent,
  checkResponse,
} from "../../../web/worker/client.mjs";
import { builtFile, run } from "../../e2e/support.mjs";

const { messages } = await import(pathToFileURL(builtFile("web", "site", "engine", "messages.mjs")).href);

/** A service that records its requests, and responds with `head`. */
function client(head = {}) {
  const asked = [];
  const exchange = (bytes) => {
    asked.push(unpackMessage(bytes));
    return packMessage(head, []);
  };
  return { asked, service: new ServiceClient(messages, exchange) };
}

test("a request is one method, with its payload", () => {
  const { asked, service } = client({ nodes: 3 });
  const { head } = service.start(
    { target: "chrome/strict", seed: 7, values: undefined },
    Uint8Array.of(1, 2),
  );
  assert.equal(head.nodes, 3);
  assert.deepEqual(asked[0].head, { do: "start", target: "chrome/strict", seed: 7 });
  assert.deepEqual([...asked[0].payload], [1, 2]);
});

test("every request of the schema has a method", () => {
  const { service } = client();
  for (const name of Object.keys(messages.requests)) assert.equal(typeof service[name], "function");
  assert.throws(() => service.send("fly"), /there is no request "fly"; there are capabilities, load/);
});

test("an unknown, missing or wrong field is an error that names it, and nothing is sent", () => {
  const wrong = [
    ["start", { target: "a/b", repeats: 2 }, /request "start": unknown field "repeats"; expected target, /],
    ["start", {}, /request "start": field "target" is missing/],
    ["start", { target: 3 }, /field "target": expected a string, got 3/],
    [
      "start",
      { target: "a/b", repeat: 0 },
      /field "repeat": expected a whole number in \[1, 1000000\], got 0/,
    ],
    ["start", { target: "a/b", repeat: 1.5 }, /field "repeat"/],
    [
      "start",
      { target: "a/b", capture: "some" },
      /expected one of "all", "fused", "outputs", "none", got "some"/,
    ],
    ["start", { target: "a/b", values: "x" }, /field "values": expected a list, got "x"/],
    ["start", { target: "a/b", values: ["x", 1] }, /field "values\[1\]": expected a string, got 1/],
    [
      "start",
      { target: "a/b", environment: { a: {} } },
      /field "environment": expected an object of strings/,
    ],
    ["load", { attachments: [{ name: "w" }] }, /request "load": attachments\[0\]: field "bytes" is missing/],
    ["load", { attachments: [null] }, /field "attachments\[0\]": expected an object "attachment", got null/],
    ["poll", { budget_ms: "20" }, /field "budget_ms"/],
  ];
  for (const [name, fields, message] of wrong) {
    const { asked, service } = client();
    assert.throws(() => service[name](fields), { name: "Error", kind: "bad_input", message });
    assert.equal(asked.length, 0);
  }
});

test("a response is checked as well, and an error becomes one", () => {
  assert.throws(
    () => client({ nodes: "many" }).service.start({ target: "a/b" }),
    /response to "start": field "nodes"/,
  );
  const failed = client({ error: { kind: "limit", message: "too large" } }).service;
  assert.throws(
    () => failed.finish(),
    (error) => error instanceof ServiceError && error.kind === "limit" && error.message === "too large",
  );
});

test("the program prints the declarations that the build made", () => {
  const printed = run(["schema", "--typescript"]);
  assert.equal(printed.status, 0, printed.stderr);
  assert.match(printed.stdout, /export interface StartRequest {/);
  assert.match(
    printed.stdout,
    /start\(fields\?: StartRequest, payload\?: Uint8Array\): Reply<StartResponse>;/,
  );
  const made = builtFile("web", "generated", "protocol", "messages.d.ts");
  assert.equal(readFileSync(made, "utf8"), printed.stdout);
});

test("documents and events are checked by name, and returned", () => {
  const progress = { phase: "run", done: 3 };
  assert.equal(checkDocument(messages, "progress", progress), progress);
  assert.throws(() => checkDocument(messages, "progress", { phase: "dance" }), {
    kind: "bad_input",
    message: /^document "progress": field "phase": expected one of "open", "load", .* got "dance"$/,
  });
  assert.throws(() => checkDocument(messages, "progress", { done: 1 }), /field "phase" is missing/);
  assert.throws(() => checkDocument(messages, "letter", {}), /there is no document "letter"; there are job/);
  const piece = { name: "y", dtype: "float32", shape: [1], begin: 0, bytes: 4 };
  checkEvent(messages, "values", { values: [piece], payload: new Uint8Array(4) });
  assert.throws(
    () => checkEvent(messages, "values", { values: [piece], payload: [0] }),
    /event "values": field "payload": expected bytes, got a list/,
  );
  assert.throws(() => checkEvent(messages, "phase", { phase: "run", more: 1 }), /unknown field "more"/);
  const times = { compile_ms: 1, read_ms: 2, prepare_ms: 3 };
  const prepared = { nodes: 1, clock_ns: 1, ran: {} };
  checkResponse(messages, "hello", { times, prepared });
  assert.throws(() => checkResponse(messages, "hello", { times }), /response to "hello": field "prepared"/);
});
