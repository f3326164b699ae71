// Shared by the end-to-end tests: the built programs, runs with captured output, safetensors.
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve as absolute } from "node:path";
import { fileURLToPath } from "node:url";
import { faultsOf } from "./document_schema.mjs";

export const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const build = process.env.DRIFTSCOPE_BUILD ?? join(root, "build");
const preset = process.env.DRIFTSCOPE_PRESET ?? "native";
// Sanitizers check code, not numbers: tests that only repeat it for minutes run with the other build.
export const sanitized = preset === "native-asan";
export const driftscope = join(build, preset, "driftscope");
// With the engines of tests/engines in addition to the project's own.
export const extended = join(build, preset, "tests", "driftscope_extended");
export const builtFile = (...parts) => join(build, ...parts);
export const asset = (...parts) => join(root, "assets", ...parts);

// All temporary files of this file's tests are in one folder, whose name identifies their processes.
export const mark = mkdtempSync(join(tmpdir(), "ds-"));
process.env.TMPDIR = mark;
process.on("exit", () => rmSync(mark, { recursive: true, force: true }));

// A folder that is removed when the test is over.
export function temporaryFolder(t) {
  const folder = mkdtempSync(join(tmpdir(), "driftscope-e2e-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

// The page lies beside the native build, whichever preset runs.
export const environment = {
  ...process.env,
  DRIFTSCOPE_SITE: process.env.DRIFTSCOPE_SITE ?? join(build, "web", "site"),
  NO_COLOR: "1",
  DRIFTSCOPE_STORE: "",
};

export function run(args, options = {}) {
  const result = spawnSync(options.program ?? driftscope, args, {
    encoding: "utf8",
    timeout: options.timeout ?? 120_000,
    cwd: options.cwd,
    env: { ...environment, ...options.env },
    maxBuffer: 1 << 28,
  });
  if (result.error) throw result.error;
  if (options.checkDocuments ?? !options.program) checkDocument(args, options, result);
  return result;
}

// Whatever a test has the program write with --json fits its schema.
function checkDocument(args, options, { stdout }) {
  const place = args.indexOf("--json");
  if (place < 0 || args[0] === "schema") return;
  const path = absolute(options.cwd ?? ".", args[place + 1] ?? "-");
  const text = args[place + 1] === "-" ? stdout : existsSync(path) ? readFileSync(path, "utf8") : "";
  let document;
  try {
    document = JSON.parse(text);
  } catch {
    return; // the test itself expects what there is
  }
  const faults = faultsOf(document);
  if (faults.length > 0) throw new Error(`driftscope ${args.join(" ")}:\n${faults.join("\n")}`);
}

// A run that continues while the test acts on it; `done` resolves to {status, stdout, stderr}.
export function start(args, options = {}) {
  const child = spawn(options.program ?? driftscope, args, {
    cwd: options.cwd,
    env: { ...environment, ...options.env },
  });
  const output = { stdout: "", stderr: "" };
  child.stdout.on("data", (data) => (output.stdout += data));
  child.stderr.on("data", (data) => (output.stderr += data));
  const done = new Promise((resolve) =>
    child.on("close", (status, signal) => resolve({ status, signal, ...output })),
  );
  return { child, output, done };
}

export async function until(condition, what, limit = 60_000) {
  const end = Date.now() + limit;
  while (Date.now() < end) {
    const value = await condition();
    if (value) return value;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`waited ${limit / 1000} s in vain for ${what}`);
}

// {metadata, tensors: Map name → {dtype, shape, bytes}}
export function readSafetensors(path) {
  const file = readFileSync(path);
  const length = Number(file.readBigUInt64LE(0));
  const { __metadata__: metadata = {}, ...entries } = JSON.parse(
    file.subarray(8, 8 + length).toString("utf8"),
  );
  const data = file.subarray(8 + length);
  const tensors = new Map();
  for (const [
    name,
    {
      dtype,
      shape,
      data_offsets: [begin, end],
    },
  ] of Object.entries(entries))
    tensors.set(name, { dtype, shape, bytes: data.subarray(begin, end) });
  return { metadata, tensors };
}

export function writeSafetensors(path, tensors, metadata) {
  const header = metadata ? { __metadata__: metadata } : {};
  let offset = 0;
  for (const [name, { dtype, shape, bytes }] of tensors) {
    header[name] = { dtype, shape, data_offsets: [offset, offset + bytes.length] };
    offset += bytes.length;
  }
  let text = JSON.stringify(header);
  text += " ".repeat((8 - (text.length % 8)) % 8);
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(Buffer.byteLength(text)));
  writeFileSync(
    path,
    Buffer.concat([length, Buffer.from(text), ...[...tensors.values()].map((t) => t.bytes)]),
  );
}

export const sha256 = (bytes) => createHash("sha256").update(bytes).digest("hex");

// Digest of every tensor of a trace, "name sha" lines in the order of names.
export const traceDigests = (path) =>
  new Map([...readSafetensors(path).tensors].map(([name, { bytes }]) => [name, sha256(bytes)]));

export const hasFile = existsSync;
