// driftscope generate: a decoder over many steps on several targets.
import assert from "node:assert/strict";
import { copyFileSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { asset, readSafetensors, run, temporaryFolder } from "../support.mjs";
import { faultsOf } from "../document_schema.mjs";

const decoder = asset("models", "decoder", "model.onnx");
const reviews = asset("data", "generated-reviews");
const quick = ["--measure", "0", "--quiet"];

function generated(...args) {
  const { status, stdout, stderr } = run(["generate", decoder, ...quick, "--json", "-", ...args]);
  assert.equal(status, 0, stderr);
  const document = JSON.parse(stdout);
  assert.deepEqual(faultsOf(document), []);
  return document;
}

test("Generate_Targets_AreJudgedStepByStep", (t) => {
  const keep = join(temporaryFolder(t), "steps");
  const document = generated(
    "--prompt",
    "12,40,7",
    "--steps",
    "5",
    "--targets",
    "pc/fast",
    "--free",
    "--keep",
    keep,
  );
  assert.equal(document.reference, "pc/strict");
  assert.equal(document.vocabulary, 490);
  assert.deepEqual(
    document.targets.map(({ target }) => target),
    ["pc/strict", "pc/fast"],
  );
  for (const { layers, sequences } of document.targets) {
    assert.ok(layers.includes("present.1.value") && layers.includes("logits"));
    const [{ prompt, steps, free }] = sequences;
    assert.deepEqual(prompt, [12, 40, 7]);
    assert.equal(steps.length, 5);
    assert.deepEqual(
      free,
      steps.map(({ token }) => token),
    );
    for (const step of steps) {
      assert.match(step.layers, /^[=~]+$/);
      assert.equal(step.layers.length, layers.length);
      assert.equal(step.flip, undefined);
      assert.ok(step.margin > 0);
    }
  }
  assert.equal(readdirSync(keep).length, 11);
  assert.deepEqual(JSON.parse(readFileSync(join(keep, "generate.json"), "utf8")), document);
  // Every step is a trace that verify takes, with the cache of all tokens so far.
  const file = join(keep, "pc-fast-prompt-0-step-4.safetensors");
  assert.deepEqual(readSafetensors(file).tensors.get("present.0.key").shape, [1, 4, 7, 8]);
  assert.equal(run(["verify", decoder, file]).status, 0);
});

test("Generate_WithCaches_ChoosesWhatAWholePassChooses", (t) => {
  const folder = temporaryFolder(t);
  const [{ sequences }] = generated("--prompt", "5,6,9", "--prompt", "30", "--steps", "6").targets;
  for (const { prompt, steps } of sequences) {
    const tokens = [...prompt, ...steps.slice(0, -1).map(({ token }) => token)];
    const out = join(folder, "keep");
    generated("--prompt", tokens.join(","), "--steps", "1", "--keep", out);
    const { tensors } = readSafetensors(join(out, "pc-strict-prompt-0-step-0.safetensors"));
    const { shape, bytes } = tensors.get("logits");
    assert.deepEqual(shape, [1, tokens.length, 490]);
    const logits = new Float32Array(Uint8Array.from(bytes).buffer);
    for (let step = 0; step < steps.length; step++) {
      const row = logits.subarray((prompt.length - 1 + step) * 490, (prompt.length + step) * 490);
      assert.equal(row.indexOf(Math.max(...row)), steps[step].token, `step ${step}`);
    }
  }
});

test("Generate_StopsAtAToken_PrintsATable_AndWritesAPage", (t) => {
  const page = join(temporaryFolder(t), "page.html");
  // The model may stand behind any option.
  const args = ["--steps", "9", "-o", page, "--targets", "pc/fast", "--stop-at", "49", "--prompt", "12,40,7"];
  const { status, stdout, stderr } = run(["generate", ...args, decoder]);
  assert.equal(status, 0, stderr);
  assert.match(stdout, /pc\/fast +~ rounding +\d+ +0 +– /);
  assert.match(stdout, /prompt 0 +pc\/strict +226 48 227 49\n/);
  assert.match(stderr, /pc\/fast: decoding/);
  const html = readFileSync(page, "utf8");
  assert.match(html, /pc\/fast: 75 layers in 4 steps, 0 beyond rounding/);
  assert.match(html, /None\./);
});

test("Generate_WrongUse_SaysWhatIsExpected", (t) => {
  const fault = (args, pattern) => {
    const { status, stderr } = run(["generate", ...args]);
    assert.equal(status, 2, stderr);
    assert.match(stderr, pattern);
  };
  fault(
    [asset("models", "lenet5.onnx"), "--prompt", "1"],
    /no input takes tokens: expected integers \[batch, sequence\]/,
  );
  fault([decoder, "--prompt", "1,2,490"], /prompt 0: token 490; expected 0 to 489, the vocabulary/);
  fault([decoder, "--prompt", "1,x"], /expected numbers of tokens with commas/);
  fault([decoder, "--prompt", "1,-4"], /token -4/);
  fault([decoder, "--prompt", join(temporaryFolder(t), "none.npy")], /none.npy/);
  fault([decoder, "--prompt", "1", "--input", "extra"], /expected NAME=FILE.npy/);
  fault([decoder, "--prompt", "1", "--targets", "pc/nothing"], /nothing/);
  fault([decoder], /--prompt/);
  // Longer than the positions that it has learnt.
  fault([decoder, "--prompt", Array(97).fill(5).join(","), "--steps", "1"], /pc\/strict: .*positions/);
});

// Words with numbers of the decoder's vocabulary, "<s>" in front.
function writeTokenizer(folder, change = () => {}) {
  const json = {
    added_tokens: [{ id: 1, content: "<s>", special: true }],
    normalizer: { type: "Lowercase" },
    pre_tokenizer: { type: "Whitespace" },
    post_processor: {
      type: "TemplateProcessing",
      single: [{ SpecialToken: { id: "<s>" } }, { Sequence: { id: "A" } }],
      special_tokens: { "<s>": { id: "<s>", ids: [1], tokens: ["<s>"] } },
    },
    model: {
      type: "WordLevel",
      unk_token: "?",
      vocab: Object.fromEntries([["?", 0], ...Array.from({ length: 485 }, (_, i) => [`w${i + 2}`, i + 2])]),
    },
  };
  change(json);
  const file = join(folder, "tokenizer.json");
  writeFileSync(file, JSON.stringify(json));
  return file;
}

test("Generate_Texts_BecomeTokensAndAnswersTexts", (t) => {
  const folder = temporaryFolder(t);
  const tokenizer = writeTokenizer(folder);
  const lines = join(folder, "lines.txt");
  writeFileSync(lines, "w9 w10\r\n\nw11\n");
  const page = join(folder, "page.html");
  const document = generated(
    ...["--tokenizer", tokenizer, "--prompt-text", "W12 w40", "--prompt-file", lines],
    ...["--steps", "3", "--targets", "pc/fast", "-o", page],
  );
  const [{ sequences }] = document.targets;
  assert.deepEqual(
    sequences.map(({ prompt }) => prompt),
    [
      [1, 12, 40],
      [1, 9, 10],
      [1, 11],
    ],
  );
  assert.equal(sequences[0].prompt_text, "w12 w40");
  for (const { steps, text } of sequences)
    assert.equal(text, steps.map(({ token }) => `w${token}`).join(" "));
  for (const { token, text } of document.tokens) assert.equal(text, token === 1 ? "<s>" : `w${token}`);
  assert.ok(readFileSync(page, "utf8").includes(sequences[0].text));
});

// Tokens of a review's first words, by the line of each in the vocabulary.
function tokensOfReview(kind, place, count) {
  const words = readFileSync(join(reviews, "vocabulary.txt"), "utf8").split("\n");
  const files = readdirSync(join(reviews, kind)).sort();
  const text = readFileSync(join(reviews, kind, files.at(place)), "utf8").toLowerCase();
  const tokens = text.match(/[a-z0-9']+/g).map((word) => words.indexOf(word));
  return tokens.map((token) => (token < 0 ? 1 : token)).slice(0, count);
}

test("Generate_DataSetOfTexts_GivesPromptsEvenlyOverIt", (t) => {
  const prompts = (model, ...args) => {
    const { status, stdout, stderr } = run([
      "generate",
      model,
      ...quick,
      "--json",
      "-",
      "--steps",
      "1",
      ...args,
    ]);
    assert.equal(status, 0, stderr);
    return JSON.parse(stdout).targets[0].sequences.map(({ prompt }) => prompt);
  };
  // Both classes have as many reviews, the negative ones first.
  const two = [tokensOfReview("neg", 0, 6), tokensOfReview("pos", 0, 6)];
  const wanted = ["--dataset", `imdb:${reviews}`, "--samples", "2", "--prompt-tokens", "6"];
  assert.deepEqual(prompts(decoder, ...wanted), two);
  const whole = prompts(decoder, "--dataset", `imdb:${reviews}#1`);
  assert.deepEqual(whole, [tokensOfReview("neg", 1)]);

  // Without a tokenizer: by the description, without what it fills up with.
  const folder = temporaryFolder(t);
  copyFileSync(decoder, join(folder, "plain.onnx"));
  copyFileSync(join(reviews, "vocabulary.txt"), join(folder, "words.txt"));
  for (const [pad_side, keep] of [
    ["left", "start"],
    ["right", "start"],
  ]) {
    const description = {
      format: "driftscope-preprocess-1",
      kind: "text",
      input: "input_ids",
      dtype: "int64",
      length: 90,
      vocabulary: "words.txt",
      pad: 0,
      unknown: 1,
      pad_side,
      keep,
      labels: ["neg", "pos"],
    };
    writeFileSync(join(folder, "plain.preprocess.json"), JSON.stringify(description));
    assert.deepEqual(prompts(join(folder, "plain.onnx"), ...wanted), two);
    assert.deepEqual(prompts(join(folder, "plain.onnx"), "--dataset", `imdb:${reviews}#1`), whole);
  }
});

test("Tokens_LinesOfAFile_LoseTheirEnds", (t) => {
  const folder = temporaryFolder(t);
  const model = { type: "BPE", vocab: { a: 0, b: 1, ab: 2, "\r": 3 }, merges: ["a b"] };
  const tokenizer = join(folder, "tokenizer.json");
  writeFileSync(tokenizer, JSON.stringify({ model, added_tokens: [] }));
  const lines = join(folder, "lines.txt");
  writeFileSync(lines, "abb\r\nzz\nba");
  const { status, stdout, stderr } = run(["tokens", tokenizer, "--file", lines]);
  assert.equal(status, 0, stderr);
  assert.deepEqual(
    stdout.split("\n").filter((line) => !line.startsWith(" ")),
    ["2,1", "no tokens", "1,0", ""],
  );
});

test("Generate_WrongTexts_SayWhatIsMissing", (t) => {
  const folder = temporaryFolder(t);
  const alone = join(temporaryFolder(t), "alone.onnx");
  copyFileSync(decoder, alone);
  const failed = (...args) => {
    const { status, stderr } = run(["generate", alone, ...quick, ...args]);
    assert.equal(status, 2);
    return stderr;
  };
  assert.match(failed("--prompt-text", "a"), /needs a tokenizer.json beside the model.*--tokenizer FILE/s);
  assert.match(failed(), /no prompt: give --prompt/);
  const broken = (change) => failed("--prompt-text", "w9", "--tokenizer", writeTokenizer(folder, change));
  assert.match(
    broken((json) => (json.normalizer.type = "Rot13")),
    /normalizer: type 'Rot13' is not supported; expected one of BertNormalizer/,
  );
  assert.match(
    broken((json) => (json.model = { type: "BPE", vocab: { a: 0 }, merges: ["a b"] })),
    /model.merges\[0\]: 'b' is not in the vocabulary/,
  );
  assert.match(
    broken((json) => (json.model.vocab.w9 = 5000)),
    /token 5000; expected 0 to 489, the vocabulary/,
  );
  assert.match(
    broken(
      (json) => (json.pre_tokenizer = { type: "Split", pattern: { Regex: "[a&&b]" }, behavior: "Isolated" }),
    ),
    /has an intersection of classes, &&/,
  );
  writeFileSync(join(folder, "empty.txt"), "\n\n");
  assert.match(failed("--prompt-file", join(folder, "empty.txt")), /expected a text a line, found none/);
  assert.match(failed("--dataset", "idx:a,b"), /prompts are texts, as those of imdb:DIR/);
  assert.match(failed("--dataset", `imdb:${reviews}`), /alone\.preprocess\.json/);
  assert.match(failed("--dataset", `imdb:${folder}`), /alone\.preprocess\.json/);
  assert.match(failed("--samples", "3"), /--dataset/);
});

test("Compare_FileThatIsMissing_IsNamedBeforeAnOptionIs", () => {
  const { status, stderr } = run(["compare", "nowhere.onnx"]);
  assert.equal(status, 2);
  assert.match(stderr, /nowhere\.onnx/);
});

test("ListOptions_ModelBehindThem_IsTheModel", () => {
  const { status, stderr } = run([
    "compare",
    "--left",
    "pc/strict",
    "--right",
    "pc/fast",
    decoder,
    "--quiet",
  ]);
  assert.equal(status, 0, stderr);
});
