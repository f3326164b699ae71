// driftscope schema: the service's messages for people and for machines.
import assert from "node:assert/strict";
import { test } from "node:test";
import { run } from "../support.mjs";

test("Schema_Json_DeclaresEveryRequestWithItsFields", () => {
  const { status, stdout, stderr } = run(["schema", "--json"]);
  assert.equal(status, 0, stderr);
  const schema = JSON.parse(stdout);
  assert.equal(schema.format, "driftscope-messages-1");
  const start = schema.requests.find(({ name }) => name === "start");
  const repeat = start.fields.find(({ name }) => name === "repeat");
  assert.deepEqual([repeat.type, repeat.min, repeat.max, repeat.default], ["whole", 1, 1000000, 1]);
  assert.deepEqual(schema.enums.capture, ["all", "fused", "outputs", "none"]);
});

test("Schema_Text_NamesRequestsFieldsRangesAndPayloads", () => {
  const { status, stdout, stderr } = run(["schema"]);
  assert.equal(status, 0, stderr);
  const { requests } = JSON.parse(run(["schema", "--json"]).stdout);
  for (const { name, fields } of requests) {
    assert.match(stdout, new RegExp(`^${name}$`, "m"));
    for (const field of fields) assert.ok(stdout.includes(`    ${field.name}: `), field.name);
  }
  assert.match(stdout, /repeat: a whole number in \[1, 1000000\]; default 1/);
  assert.match(stdout, /payload: the trace/);
});

test("Schema_Help_Teaches", () => {
  const { status, stdout } = run(["schema", "--help"]);
  assert.equal(status, 0);
  assert.match(stdout, /--json/);
  assert.match(stdout, /names the field/);
});
