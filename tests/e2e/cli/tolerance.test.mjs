// Models that runtimes let pass: run with a note, listed by doctor MODEL; operators without a reference.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { faultsOf } from "../document_schema.mjs";
import { asset, run, temporaryFolder } from "../support.mjs";
import { interfaceValue, number, part, text } from "../tiny_onnx.mjs";

function node(op, input, output, domain = "") {
  const where = domain ? [text(7, domain)] : [];
  return part(1, text(1, input), text(2, output), text(3, output), text(4, op), ...where);
}
const opset = (domain, version) => part(8, ...(domain ? [text(1, domain)] : []), number(2, version));

function written(t, nodes, declared, ...opsets) {
  const path = join(temporaryFolder(t), "model.onnx");
  const graph = part(
    7,
    ...nodes,
    text(2, "graph"),
    interfaceValue(11, "x", [2, 3]),
    interfaceValue(12, "y", declared),
  );
  writeFileSync(path, Buffer.concat([number(1, 8), graph, ...opsets]));
  return path;
}

test("WrongDeclaredShape_RunsWithANote_AndDoctorNamesIt", (t) => {
  const model = written(t, [node("Relu", "x", "a"), node("Neg", "a", "y")], [5, 7], opset("", 17));
  const said = /note: 1 value has another shape than the model declares: value 'y' of node 'y': the model/;
  const ran = run(["run", model, "--target", "pc/strict"]);
  assert.equal(ran.status, 0, ran.stderr);
  assert.match(ran.stdout, said);
  const compared = run(["compare", model, "--right", "pc/reference", "--quiet"]);
  assert.equal(compared.status, 0, compared.stderr);
  assert.match(compared.stdout, said);
  const trace = join(temporaryFolder(t), "trace.safetensors");
  assert.equal(run(["run", model, "--target", "pc/strict", "--trace", trace]).status, 0);
  const { notes } = JSON.parse(run(["verify", model, trace, "--json", "-"]).stdout);
  assert.match(notes[0], /another shape than the model declares/);
  const doctor = run(["doctor", model, "--json", "-"]);
  assert.equal(doctor.status, 0, doctor.stderr);
  const document = JSON.parse(doctor.stdout);
  assert.deepEqual(faultsOf(document), []);
  assert.equal(document.model.deviations, 1);
  const [finding] = document.model.findings;
  const { kind, node: where, value, declared, found, deviation, accepted } = finding;
  assert.deepEqual(
    { kind, where, value, declared, found, deviation, accepted },
    {
      kind: "declared_shape",
      where: "y",
      value: "y",
      declared: "5x7",
      found: "2x3",
      deviation: true,
      accepted: true,
    },
  );
  assert.match(run(["doctor", model]).stdout, /1 finding, against the ONNX specification/);
});

test("UnknownOperator_LoadsAndIsRefusedByNameWhereItIsMissing", (t) => {
  const nodes = [node("Twice", "x", "a", "com.example"), node("Neg", "a", "y")];
  const model = written(t, nodes, [2, 3], opset("", 17), opset("com.example", 1));
  const ran = run(["run", model, "--target", "pc/strict"]);
  assert.equal(ran.status, 2);
  assert.match(ran.stderr, /engine strict lacks what this model needs: com\.example\.Twice/);
  const { findings } = JSON.parse(run(["doctor", model, "--json", "-"]).stdout).model;
  assert.equal(findings.find(({ kind }) => kind === "opaque_operator").value, "com.example.Twice");
});

test("Doctor_OfAModelThatCannotBeRead_SaysWhyAndFails", (t) => {
  const model = join(temporaryFolder(t), "model.onnx");
  writeFileSync(model, "no model");
  const doctor = run(["doctor", model, "--json", "-"]);
  assert.equal(doctor.status, 2);
  assert.equal(JSON.parse(doctor.stdout).model.findings[0].accepted, false);
  assert.match(run(["doctor", asset("models", "lenet5.onnx")]).stdout, /nothing to report/);
});
