// node split_engine.mjs SPLIT USED LINKED.mjs FOLDER: an engine in two files: what USED lists (see
// profile_engine.mjs) in FOLDER/NAME.wasm, all other functions in FOLDER/NAME.more.wasm, which is fetched
// when the first of them is called; also FOLDER/NAME.mjs, which does that. LINKED.mjs and .wasm are what the
// linker made, with the names of the functions; SPLIT is Binaryen's wasm-split. Client: web/engine.cmake.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { argv } from "node:process";

import "../web/shared/node_relaxed_simd.mjs";
import { readWasm } from "./wasm_file.mjs";

const [split, usedFile, linked, folder] = argv.slice(2);
const engine = basename(linked, ".mjs");

/** XNNPACK chooses tile and instruction set of a kernel where it runs: any of them counts. */
const kernelKind = (name) => /^xnn_\w+?_ukernel/.exec(name)?.[0] ?? name;

// What is profiled has one thread, in a build that could have more. So what is about threads stays, the C
// and C++ libraries, other parts of which builds without threads call, and the engine fast, whose ways depend
// on how many there are. Which functions read and write messages depends on what these hold, and those that
// sort times on how many there are.
const ofThreads = "thread|mutex|condition_variable|unique_lock|__libcpp|__assoc_sub_state";
const always = [
  /\b(driftscope::messages|driftscope::JsonFields|nlohmann|__cxxabiv1)::/,
  /\bstd::__2::.*\b(double|long long)\*/,
  /\bdriftscope::(ThreadPool::|fast::|\(anonymous namespace\)::run_all\()/,
  new RegExp(`^(?!.*\\bdriftscope::(?!ThreadPool)).*(${ofThreads})`),
  /^(?!xnn_)\w+$/,
];

/** A vector cannot pass through the JavaScript that fetches the second file. */
const isKept = (used, { name, vectors }) =>
  vectors || !name || used.has(kernelKind(name)) || always.some((kind) => kind.test(name));

/** The export of the table from which the first file calls the second. */
function tableOf(wasm) {
  const tables = WebAssembly.Module.exports(new WebAssembly.Module(wasm)).filter(
    ({ kind }) => kind === "table",
  );
  const own = tables.filter(({ name }) => name !== "__indirect_function_table");
  if (own.length !== 1) throw new Error(`wasm-split made ${own.length} tables; expected one`);
  return own[0].name;
}

// Which build a file is of: the second one may come from a site that was renewed meanwhile.
const buildSection = "driftscope.build";

/** `wasm` with a custom section of this text. */
function withSection(wasm, name, text) {
  const content = Buffer.concat([Buffer.from([name.length]), Buffer.from(name), Buffer.from(text)]);
  return Buffer.concat([wasm, Buffer.from([0, content.length]), content]);
}

// Every function of the second file that the first one calls is one of its imports: the first call of any
// instantiates that file, which puts its functions into the table in their places. That must not wait: the
// caller is WebAssembly in a worker, or in Node. Each thread has its own instance of both.
const loader = (table, build) => `
let hasMore = false;
function loadMore() {
  if (hasMore) return;
  const file = new URL("${engine}.more.wasm", import.meta.url).href;
  let more;
  try {
    more = new WebAssembly.Module(readBinary(file));
  } catch (error) {
    throw new Error(\`the rest of the engine could not be fetched from \${file}: \${error.message}\`);
  }
  const [build] = WebAssembly.Module.customSections(more, "${buildSection}");
  if (!build || new TextDecoder().decode(build) !== "${build}")
    throw new Error(\`the engine was renewed while it was in use: load it again (another build: \${file})\`);
  new WebAssembly.Instance(more, { primary: wasmExports });
  hasMore = true;
}
const moreFunctions = new Proxy({}, {
  get: (_, place) => (...args) => {
    loadMore();
    return wasmExports["${table}"].get(Number(place))(...args);
  },
});
`;

/** Emscripten's module with the loader. */
function withLoader(script, table, build) {
  const imports = /function getWasmImports\(\) \{(?:\n.*?)*?\n {2}return \{\n/g;
  const found = [...script.matchAll(imports)];
  if (found.length !== 1)
    throw new Error(`${linked}: ${found.length} places make the imports of the engine; expected one`);
  const { index, 0: head } = found[0];
  const rest = script.slice(index + head.length);
  const entry = `    "placeholder": moreFunctions,\n`; // the module that wasm-split imports them from
  return script.slice(0, index) + loader(table, build) + head + entry + rest;
}

const work = mkdtempSync(join(tmpdir(), "driftscope-split-"));
try {
  const used = new Set(readFileSync(usedFile, "utf8").split("\n").map(kernelKind));
  const { functions, nameless } = readWasm(readFileSync(linked.replace(/mjs$/, "wasm")));
  const kept = functions.flatMap((entry, i) => (isKept(used, entry) ? [i] : []));
  const [plain, list, first, second] = ["plain", "list", "first", "second"].map((part) => join(work, part));
  writeFileSync(plain, nameless);
  writeFileSync(list, `${kept.join("\n")}\n`);
  const options = ["--split", "--all-features", plain, `--keep-funcs=@${list}`, "--export-prefix=%"];
  execFileSync(split, [...options, "-o1", first, "-o2", second], { stdio: "inherit" });
  const made = [first, second].map((file) => readFileSync(file));
  const build = createHash("sha256").update(made[0]).update(made[1]).digest("hex").slice(0, 16);
  const parts = made.map((wasm) => withSection(wasm, buildSection, build));
  for (const [file, content] of [
    [`${engine}.more.wasm`, parts[1]],
    [`${engine}.wasm`, parts[0]],
    [`${engine}.mjs`, withLoader(readFileSync(linked, "utf8"), tableOf(parts[0]), build)],
  ]) {
    const target = join(folder, file);
    writeFileSync(`${target}.new`, content);
    renameSync(`${target}.new`, target);
  }
} finally {
  rmSync(work, { recursive: true });
}
