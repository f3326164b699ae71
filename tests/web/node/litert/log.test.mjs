// What is reported of LiteRT's output when it fails.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Log } from "../../../../web/peers/litert/log.mjs";

test("Log_ErrorOfSeveralLines_IsToldWithItsDetails", () => {
  const log = new Log();
  for (const line of [
    "INFO: [compiled_model.cc:12] Created",
    "ERROR: [delegate.cc:7] Following operations are not supported by GPU delegate:",
    "BROADCAST_TO: Operation is not supported.",
    "CAST: Expected 1 runtime input tensor(s), but node has 0 runtime input(s).",
    "",
    "INFO: done",
    "of no error",
    "ERROR: [x.cc:1] again",
    "ERROR: [x.cc:2] again",
  ])
    log.add(line);
  assert.equal(
    log.errors(),
    "Following operations are not supported by GPU delegate: BROADCAST_TO: Operation is not supported. " +
      "CAST: Expected 1 runtime input tensor(s), but node has 0 runtime input(s).; again",
  );
});

test("Log_ErrorOfHundredLines_IsCut", () => {
  const log = new Log();
  log.add("ERROR: first");
  for (let i = 0; i < 100; ++i) log.add(`detail ${i}`);
  assert.equal(log.errors(), "first detail 0 detail 1 detail 2 detail 3 detail 4 detail 5 (and 94 more)");
});
