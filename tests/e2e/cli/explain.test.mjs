// explain: the cause of a fault on a model, as text and JSON, for one node, and where nothing is wrong.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { asset, readSafetensors, run, temporaryFolder, writeSafetensors } from "../support.mjs";

const model = asset("models", "lenet5.onnx");

function recorded(t) {
  const path = join(temporaryFolder(t), "lenet5.safetensors");
  assert.equal(run(["run", model, "--target", "pc/strict", "--trace", path]).status, 0);
  const { layers } = JSON.parse(run(["verify", model, path, "--quiet", "--json", "-"]).stdout);
  return { path, conv: layers.find(({ op }) => op === "Conv") };
}

function spoil(path, name, change) {
  const { metadata, tensors } = readSafetensors(path);
  const { bytes } = tensors.get(name);
  change(new Float32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4));
  writeSafetensors(path, tensors, metadata);
}

test("Explain_LastChannelNotWritten_IsNamedInTextAndJson", (t) => {
  const { path, conv } = recorded(t);
  const plane = conv.shape[2] * conv.shape[3];
  spoil(path, conv.output, (values) => values.fill(0, values.length - plane));
  const text = run(["explain", model, path, conv.node, "--quiet"]);
  assert.equal(text.status, 1, text.stderr);
  assert.match(text.stdout, new RegExp(`fault at ${conv.node} \\(Conv`));
  assert.match(text.stdout, /explained by .*(not written|left out)/);
  assert.match(text.stdout, /the last slice of axis 1/);
  assert.match(text.stdout, /by accident at most/);

  const json = run(["explain", model, path, "--quiet", "--json", "-"]);
  assert.equal(json.status, 1, json.stderr);
  const document = JSON.parse(json.stdout);
  assert.equal(document.format, "driftscope-explain-1");
  assert.equal(document.layers.length, 1);
  const [layer] = document.layers;
  assert.equal(layer.node, conv.node);
  assert.equal(layer.verdict, "fault");
  assert.equal(layer.cause.explained, layer.cause.elements);
  assert.ok(layer.cause.budget_before > 1 && layer.cause.budget_after <= 1 && layer.cause.chance <= 1e-6);
  assert.equal(layer.hypotheses[0].id, layer.cause.id);
  assert.equal(layer.wrong, layer.elements / conv.shape[1]);
  assert.equal(layer.matters, null);

  const verified = JSON.parse(run(["verify", model, path, "--quiet", "--json", "-"]).stdout);
  const explained = verified.layers.filter(({ explain }) => explain !== undefined);
  assert.deepEqual(
    explained.map(({ explain }) => explain),
    document.layers,
  );
});

test("Explain_NoiseInAColumn_IsUnknownWithItsPlace", (t) => {
  const { path, conv } = recorded(t);
  spoil(path, conv.output, (values) => {
    for (let i = 3; i < values.length; i += conv.shape[3]) values[i] = Math.sin(i) * 3;
  });
  const result = run(["explain", model, path, conv.node, "--quiet"]);
  assert.equal(result.status, 1, result.stderr);
  assert.match(result.stdout, /none of the \d+ hypotheses tried explains it/);
  assert.match(result.stdout, /column 3/);
});

test("Explain_RightTrace_HasNothingToExplain", (t) => {
  const { path, conv } = recorded(t);
  const all = run(["explain", model, path, "--quiet"]);
  assert.equal(all.status, 0, all.stderr);
  assert.match(all.stdout, /nothing to explain/);
  assert.equal(run(["explain", model, path, conv.node, "--quiet"]).status, 0);
  const wrong = run(["explain", model, path, "no_such_node", "--quiet"]);
  assert.equal(wrong.status, 2);
  assert.match(wrong.stderr, /no node 'no_such_node'/);
  assert.equal(run(["explain", model]).status, 2);
  assert.match(run(["explain", "--list"]).stdout, /parameter\.bias_missing +the bias left out \(Conv/);
});
