// The option winograd of the engine fast, from the command line to what the trace says, and how it is judged.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { asset, readSafetensors, run, temporaryFolder } from "../support.mjs";

const model = asset("models", "vgg16.onnx");

test("Winograd_OfAPicturesNetwork_IsSaidAndJudgedAsRounding", (t) => {
  const folder = temporaryFolder(t);
  const made = Object.fromEntries(
    ["auto", "small", "off"].map((choice) => {
      const trace = join(folder, `${choice}.safetensors`);
      const ran = run(["run", model, "--target", `pc/fast:winograd=${choice}`, "--trace", trace]);
      assert.equal(ran.status, 0, ran.stderr);
      const verified = run(["verify", model, trace]);
      assert.equal(verified.status, 0, verified.stdout + verified.stderr);
      const { metadata } = readSafetensors(trace);
      return [choice, JSON.parse(metadata.run).options.by_winograd];
    }),
  );
  assert.match(made.auto, /F\(4,3\) \d/);
  assert.match(made.small, /^F\(2,3\) \d+$/);
  assert.equal(made.off, undefined);
  const wrong = run(["run", model, "--target", "pc/fast:winograd=perhaps"]);
  assert.notEqual(wrong.status, 0);
  assert.match(wrong.stderr, /winograd.*auto, small, off|auto.*small.*off/s);
});
