// node profile_engine.mjs SPLIT ENGINE.mjs MESSAGES.mjs MODELS OUTPUT: which functions an engine needs for
// what people usually do: every model in the folder MODELS on the engines of `usual`, all layers recorded,
// judged and compared. OUTPUT lists their names, a line each. ENGINE.wasm, beside its module, has the names
// of its functions, and is a build with threads, though one is enough here; SPLIT is Binaryen's wasm-split,
// which counts the calls. Client: web/engine.cmake.
import { execFileSync } from "node:child_process";
import {
  copyFileSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { argv } from "node:process";
import { pathToFileURL } from "node:url";

import { openEngine, runToEnd } from "../web/worker/engine.mjs";
import { readWasm } from "./wasm_file.mjs";

const [split, engine, messages, models, output] = argv.slice(2).map((argument) => resolve(argument));

/** Resolves to [the result of `open`, its memory]: emscripten's module keeps that to itself. */
async function withMemory(open) {
  const { instantiate } = WebAssembly;
  let heap;
  WebAssembly.instantiate = (bytes, imports) => {
    heap = imports.env.memory;
    return instantiate.call(WebAssembly, bytes, imports);
  };
  try {
    return [await open(), heap];
  } finally {
    WebAssembly.instantiate = instantiate;
  }
}

const usual = ["strict", "fast"];
const threads = 1;
const memory = 2 ** 31;
const counterBytes = 65_536;

/** The tensors of these names in a safetensors file, as another one. */
function selected(file, names) {
  const size = Number(new DataView(file.buffer, file.byteOffset).getBigUint64(0, true));
  const header = JSON.parse(new TextDecoder().decode(file.subarray(8, 8 + size)));
  const parts = [];
  let at = 0;
  const chosen = names.map((name) => {
    const { data_offsets: range, ...entry } = header[name];
    const [begin, end] = range;
    parts.push(file.subarray(8 + size + begin, 8 + size + end));
    at += end - begin;
    return [name, { ...entry, data_offsets: [at - (end - begin), at] }];
  });
  const head = Buffer.from(JSON.stringify(Object.fromEntries(chosen)));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(head.length));
  return new Uint8Array(Buffer.concat([length, head, ...parts]));
}

async function traceOf(client, plan, inputs) {
  client.request("start", plan, inputs);
  await client.prepared();
  await runToEnd(client, 50);
  return client.request("finish").payload;
}

// As environment in web/page/capabilities.mjs has it.
const environment = {
  browser: "Chromium 1.0",
  isolated: true,
  cores: 2,
  device_memory_gb: 0.5,
  webgl2: false,
};

/** What the workers of a page do for a job, a comparison and a bench (web/worker), in this process. */
async function useAsUsual(client, targets, model, unwatched_ms) {
  const traces = new Map(); // by target and purpose
  const job = (target) => {
    client.request("load", { target, attachments: [], once: true }, model);
    client.request("capabilities");
    return { target, environment, capture: "all" };
  };
  for (const target of targets) {
    const seeded = client.request("load", {}, model);
    const names = seeded.head.inputs.map(({ name }) => name);
    const repeated = await traceOf(client, { target, seed: 42, repeat: 2, compare_runs: true });
    const inputs = selected(repeated, names);
    traces.set(`${target} layers`, await traceOf(client, { ...job(target), times: false }, inputs));
    const timed = { ...job(target), values: [], settle_ms: 20, unwatched_ms };
    traces.set(`${target} times`, await traceOf(client, timed, inputs));
    await traceOf(client, { ...job(target), stream: true, settle_ms: 20, unwatched_ms: 5 }, inputs);
    await traceOf(client, { ...job(target), capture: "outputs", unwatched_ms: 5 }, inputs);
    const { outputs } = seeded.head;
    await traceOf(client, { ...job(target), values: outputs.map(({ name }) => name) }, inputs);
    client.request("prepare", { ...job(target), capture: "none" }, inputs);
    client.request("measure", { slice_us: 1000 });
    client.request("describe");
  }
  client.request("load", {}, model);
  client.request("topology");
  client.request("compare", { targets, measure_times: true, threads });
  let step = client.request("advance").head;
  while (!step.finished) {
    const { run } = step;
    const trace = run && traces.get(`${run.target} ${run.purpose}`);
    if (run) step = client.request("advance", { run: run.id }, trace).head;
    else step = client.request("advance").head;
  }
}

const folder = mkdtempSync(join(tmpdir(), "driftscope-profile-"));
try {
  const { functions, nameless } = readWasm(readFileSync(engine.replace(/mjs$/, "wasm")));
  // The engine finds its messages beside it.
  copyFileSync(engine, join(folder, basename(engine)));
  copyFileSync(messages, join(folder, "messages.mjs"));
  const variant = basename(engine, ".mjs");
  const [plain, counting] = ["plain.wasm", `${variant}.wasm`].map((name) => join(folder, name));
  writeFileSync(plain, nameless);
  // They count in the first bytes of memory, one for each function; web/engine.cmake leaves room for them.
  if (functions.length > counterBytes)
    throw new Error(`${functions.length} functions; expected at most ${counterBytes}`);
  const counters = ["--instrument", "--in-memory", "--all-features", plain, "-o", counting];
  execFileSync(split, counters, { stdio: "inherit" });
  const base = pathToFileURL(join(folder, "engine")).href;
  const [client, heap] = await withMemory(() => openEngine({ base, variant, threads, memory }));
  const here = client.request("capabilities").head.engines.map(({ name }) => name);
  const targets = usual
    .filter((name) => here.includes(name))
    .map((name) => `node/${name}:threads=${threads}`);
  let unwatched_ms = 1000; // until the time is known, as on the page; one model shows how
  for (const file of readdirSync(models).sort()) {
    if (!file.endsWith(".onnx")) continue;
    await useAsUsual(client, targets, readFileSync(join(models, file)), unwatched_ms);
    unwatched_ms = 5;
  }
  const called = new Uint8Array(heap.buffer).slice(0, functions.length);
  const lines = functions.filter(({ name }, i) => called[i] > 0 && name).map(({ name }) => name);
  writeFileSync(`${output}.new`, [...new Set(lines)].sort().join("\n") + "\n");
  renameSync(`${output}.new`, output);
} finally {
  rmSync(folder, { recursive: true });
}
process.exit(); // its threads would keep Node alive
