// node list_models.mjs OUTPUT MODEL…: [{"name","bytes","sha256"}], for the page, which cannot list a
// folder; it keeps models by their hash. Client: web/engine.cmake.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { basename } from "node:path";

const [output, ...files] = process.argv.slice(2);
const models = files.map((file) => {
  const bytes = readFileSync(file);
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  return { name: basename(file, ".onnx"), bytes: bytes.length, sha256 };
});
writeFileSync(output, `${JSON.stringify(models)}\n`);
