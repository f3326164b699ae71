// Pictures and texts as inputs and data sets, as a user types them.
import assert from "node:assert/strict";
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { asset, readSafetensors, root, run, temporaryFolder, sanitized } from "../support.mjs";

const picture = (name) => join(root, "tests", "data", "pictures", name);
const reviews = asset("data", "generated-reviews");

/** A copy of ResNet-20 whose description takes pictures of any size, with two of them in a folder. */
function picturesFor(t, changes = {}) {
  const folder = temporaryFolder(t);
  const model = join(folder, "model.onnx");
  copyFileSync(asset("models", "resnet20.onnx"), model);
  const description = JSON.parse(readFileSync(asset("models", "resnet20.preprocess.json"), "utf8"));
  description.resize = { rule: "shorter_side", size: 32, antialias: true };
  description.crop = "center";
  writeFileSync(join(folder, "model.preprocess.json"), JSON.stringify({ ...description, ...changes }));
  for (const name of ["disc", "square"]) mkdirSync(join(folder, "set", name), { recursive: true });
  copyFileSync(picture("colour.png"), join(folder, "set", "square", "a.png"));
  copyFileSync(picture("baseline.jpg"), join(folder, "set", "disc", "b.jpg"));
  return { folder, model, set: join(folder, "set") };
}

test("Input_Picture_IsResizedCroppedAndRun", (t) => {
  const { folder, model } = picturesFor(t);
  const trace = join(folder, "trace.safetensors");
  const done = run(["run", model, "--input", picture("colour.png"), "--trace", trace]);
  assert.equal(done.status, 0, done.stderr);
  const { tensors } = readSafetensors(trace);
  assert.deepEqual(tensors.get("input").shape, [1, 3, 32, 32]);
  assert.match(done.stdout, /square|disc|stripes|waves|checks|dots|rings|spiral|triangle|cross/);
});

test("Dataset_ImageFolder_PrintsAccuracy", (t) => {
  const { model, set } = picturesFor(t);
  const { status, stdout, stderr } = run(["run", model, "--dataset", `images:${set}`]);
  assert.equal(status, 0, stderr);
  assert.match(stdout, /set, 2 samples/);
  assert.match(stdout, /accuracy/);
  const one = run(["run", model, "--input", `images:${set}#1`]);
  assert.equal(one.status, 0, one.stderr);
  const compared = run([
    "compare",
    model,
    "--input",
    `images:${set}#0`,
    "--dataset",
    `images:${set}/`,
    "--left",
    "pc/reference",
    "--right",
    "pc/strict",
  ]);
  assert.equal(compared.status, 0, compared.stderr);
  assert.match(compared.stdout, /2\/2/);
});

test("Pictures_ThatDoNotFit_EndWithCode2AndAMessage", (t) => {
  const { model, folder, set } = picturesFor(t, { resize: { rule: "none" }, crop: "none" });
  const rejected = (args, message) => {
    const { status, stderr } = run(["run", model, ...args]);
    assert.equal(status, 2, stderr);
    assert.match(stderr, message);
  };
  rejected(["--input", picture("colour.png")], /29x37 RGB, the model's preprocessing expects 3x32x32 RGB/);
  rejected(["--input", picture("gray.png")], /is 29x37 gray/);
  rejected(["--input", picture("gray16.png")], /16 bits per channel/);
  rejected(["--input", picture("cmyk.jpg")], /CMYK/);
  rejected(["--input", picture("transparent.png")], /transparent/);
  writeFileSync(join(folder, "cut.jpg"), readFileSync(picture("baseline.jpg")).subarray(0, 700));
  rejected(["--input", join(folder, "cut.jpg")], /truncated/);
  rejected(["--input", join(folder, "none.png")], /cannot read/);
  rejected(["--dataset", `images:${set}`], /disc\/b\.jpg.*29x37/);
  rejected(["--dataset", `images:${folder}/nowhere`], /cannot read the folder/);
  rejected(["--dataset", `imdb:${reviews}`], /a data set of texts/);
  mkdirSync(join(set, "cross"));
  rejected(["--dataset", `images:${set}`], /cross'?: the folder is empty/);
});

test("Input_PictureWithoutADescription_SaysWhatIsMissing", (t) => {
  const folder = temporaryFolder(t);
  copyFileSync(asset("models", "resnet20.onnx"), join(folder, "model.onnx"));
  const { status, stderr } = run(["run", join(folder, "model.onnx"), "--input", picture("colour.png")]);
  assert.equal(status, 2);
  assert.match(stderr, /model\.preprocess\.json.*assets\/README\.md/s);
});

const slowModels = [
  "lstm",
  "gru",
  "lstm-opset11",
  "transformer",
  "transformer-opset11",
  "vgg16",
  "resnet20-int8",
  "mobilenetv2-small",
  "mobilenetv2-small-int8",
  "resnet-small",
  "inception-small",
];
for (const model of ["textcnn", "lenet5-int8", ...(sanitized ? [] : slowModels)]) {
  test(`Dataset_${model}_PredictsWhatPyTorchPredicted`, (t) => {
    const report = JSON.parse(readFileSync(asset("ACCURACY.json"), "utf8")).models[model];
    const [kind, files] = report.dataset.split(":");
    const dataset = `${kind}:${files
      .split(",")
      .map((file) => asset(file))
      .join(",")}`;
    const trace = join(temporaryFolder(t), "outputs.safetensors");
    const { status, stdout, stderr } = run(
      ["run", asset("models", `${model}.onnx`), "--dataset", dataset, "--trace", trace],
      { timeout: 600_000 },
    );
    assert.equal(status, 0, stderr);
    assert.match(stdout, /accuracy/);
    const [output] = [...readSafetensors(trace).tensors.values()].slice(-1);
    const classes = output.shape.at(-1);
    const scores = new Float32Array(new Uint8Array(output.bytes).buffer);
    const predicted = Array.from({ length: scores.length / classes }, (_, i) => {
      const row = scores.subarray(i * classes, (i + 1) * classes);
      return row.indexOf(Math.max(...row));
    });
    assert.deepEqual(
      predicted,
      readFileSync(asset(report.predictions), "utf8").trim().split("\n").map(Number),
    );
  });
}

test("Input_Text_UnknownWords", (t) => {
  const folder = temporaryFolder(t);
  const text = join(folder, "review.txt");
  writeFileSync(text, "The acting was wonderful, the zyzzyva was not.");
  const known = run(["run", asset("models", "textcnn.onnx"), "--input", text]);
  assert.equal(known.status, 0, known.stderr);
  assert.match(known.stdout, /neg|pos/);

  copyFileSync(asset("models", "textcnn.onnx"), join(folder, "model.onnx"));
  const description = JSON.parse(readFileSync(asset("models", "textcnn.preprocess.json"), "utf8"));
  const vocabulary = readFileSync(join(reviews, "vocabulary.txt"));
  writeFileSync(join(folder, "words.txt"), vocabulary);
  writeFileSync(
    join(folder, "model.preprocess.json"),
    JSON.stringify({ ...description, vocabulary: "words.txt", unknown: null }),
  );
  const rejected = run(["run", join(folder, "model.onnx"), "--input", text]);
  assert.equal(rejected.status, 2);
  assert.match(rejected.stderr, /review\.txt: word 6 of the text, 'zyzzyva', is not in the vocabulary/);
});
