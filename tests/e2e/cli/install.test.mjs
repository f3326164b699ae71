// An installation into a folder of its own: it finds its page, models and libraries there.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";

import { builtFile, driftscope, root, run, sanitized, temporaryFolder } from "../support.mjs";

const page = builtFile("web", "site");
const skip = sanitized
  ? "the other build is installed"
  : !existsSync(join(page, "licences.txt")) && "no page";

// Of tools/build, after which README.md says that the program can be installed.
test("Install_WhatItNeedsOfTheBuild_IsMadeWithTheProgram", { skip }, () => {
  const folder = dirname(driftscope);
  const targets = /^build_preset native (.*)$/m.exec(readFileSync(join(root, "tools", "build"), "utf8"))[1];
  const { status, stdout, stderr } = spawnSync(
    "ninja",
    ["-C", folder, "-t", "graph", ...targets.split(" ")],
    {
      encoding: "utf8",
      maxBuffer: 1 << 28,
    },
  );
  assert.equal(status, 0, stderr);
  const made = new Set([...stdout.matchAll(/label="([^"]+)"/g)].map(([, path]) => resolve(folder, path)));
  const rules = readFileSync(join(folder, "cmake_install.cmake"), "utf8");
  const wanted = [...rules.matchAll(/"((?:[^"\\]|\\.)*)"/g)]
    .map(([, path]) => path)
    .filter((path) => path.startsWith(`${folder}/generated/`));
  const written = join(folder, "generated", "installed"); // while installing
  const left = wanted.filter((path) => !path.startsWith(written) && !made.has(path));
  assert.ok(wanted.length > 3, rules);
  assert.deepEqual(left, []);
});

test("Install_IntoAFolder_RunsFromThere", { skip }, (t) => {
  const prefix = join(temporaryFolder(t), "usr");
  rmSync(join(dirname(driftscope), "generated", "installed"), { recursive: true, force: true });
  const installed = spawnSync("cmake", ["--install", dirname(driftscope), "--prefix", prefix], {
    encoding: "utf8",
  });
  assert.equal(installed.status, 0, installed.stderr);
  const program = join(prefix, "bin", "driftscope");
  const share = join(prefix, "share");
  const environment = { PATH: process.env.PATH, HOME: prefix, TMPDIR: process.env.TMPDIR };
  const start = (...args) => spawnSync(program, args, { encoding: "utf8", env: environment });

  const compared = start(
    "compare",
    join(share, "driftscope", "assets", "models", "lenet5.onnx"),
    "--right",
    "pc/fast,pc/ort",
  );
  assert.equal(compared.status, 0, compared.stderr);
  assert.match(compared.stdout, /2 targets agree with pc\/strict within rounding/);
  assert.match(start("doctor").stdout, new RegExp(`${share}/driftscope/site`));

  // Every third-party component that is shipped has its notice, and the page has its own.
  for (const notices of [
    join(share, "doc", "driftscope", "licences.txt"),
    join(share, "driftscope", "site", "licences.txt"),
  ])
    for (const name of [
      "ONNX Runtime",
      "XNNPACK",
      "Dear ImGui",
      "fmt",
      "JSON for Modern",
      "protozero",
      "stb",
      "Roboto",
    ])
      assert.match(readFileSync(notices, "utf8"), new RegExp(`^  ${name}`, "m"), `${name} in ${notices}`);
  assert.ok(existsSync(join(share, "doc", "driftscope", "copyright")));
  assert.match(
    readFileSync(join(share, "applications", "driftscope.desktop"), "utf8"),
    /^Exec=driftscope gui/m,
  );

  const commands = [
    ...run(["--help"])
      .stdout.split("Subcommands:")[1]
      .split("\n\n")[0]
      .matchAll(/^ {2}([a-z]+) {2,}[A-Z]/gm),
  ].map(([, name]) => name);
  assert.ok(commands.length > 8, commands.join(" "));
  const pages = readdirSync(join(share, "man", "man1"));
  for (const name of commands) assert.ok(pages.includes(`driftscope-${name}.1`), `a manual page of ${name}`);
  assert.ok(!pages.includes("driftscope-worker.1"), "an internal command has none");
  for (const completion of [
    ["bash-completion", "completions", "driftscope"],
    ["zsh", "site-functions", "_driftscope"],
    ["fish", "vendor_completions.d", "driftscope.fish"],
  ])
    assert.ok(existsSync(join(share, ...completion)), completion.join("/"));

  // The npm package beside it finds the program without any setting.
  const module = pathToFileURL(join(share, "driftscope", "npm", "program.mjs"));
  const found = spawnSync(
    process.execPath,
    [
      "--input-type=module",
      "-e",
      `import { findProgram } from ${JSON.stringify(module)};
       console.log(findProgram());`,
    ],
    { encoding: "utf8", env: { PATH: "/nowhere" } },
  );
  assert.equal(found.stdout.trim(), program, found.stderr);
});

/** What `readelf` says of a program. */
function readelf(...args) {
  const { status, stdout, stderr } = spawnSync("readelf", ["-W", ...args], {
    encoding: "utf8",
    maxBuffer: 1 << 28,
  });
  assert.equal(status, 0, stderr);
  return stdout;
}

/** The program is hardened, and looks for libraries beside itself alone. */
function checkShipped(program) {
  assert.match(readelf("-h", program), /Type:\s+DYN/, "position-independent");
  const dynamic = readelf("-d", program);
  assert.match(dynamic, /FLAGS_1.*\bPIE\b/);
  assert.match(dynamic, /FLAGS_1.*\bNOW\b/, "full RELRO: bound at the start,");
  const segments = readelf("-l", program);
  assert.match(segments, /GNU_RELRO/, "then read-only");
  assert.match(segments, /GNU_STACK.*\bRW\b/, "no code on the stack");
  const symbols = readelf("--dyn-syms", program);
  assert.match(symbols, /__stack_chk_fail/, "stack protector");
  assert.match(symbols, /__memcpy_chk/, "_FORTIFY_SOURCE");
  const paths = [...dynamic.matchAll(/\((?:RPATH|RUNPATH)\).*\[(.*)\]/g)].flatMap(([, list]) =>
    list.split(":"),
  );
  for (const path of paths) assert.equal(path, "$ORIGIN/../lib/driftscope", program);
  assert.ok(!dynamic.includes("(RPATH)"), "RPATH would come before LD_LIBRARY_PATH");
}

test("Build_Program_LooksForLibrariesInNamedFoldersOnly", { skip }, () => {
  const paths = [...readelf("-d", driftscope).matchAll(/\((?:RPATH|RUNPATH)\).*\[(.*)\]/g)];
  for (const path of paths.flatMap(([, list]) => list.split(":")))
    assert.match(path, /^(\/|\$ORIGIN\/)/, "an empty entry is the current folder");
});

test("Install_Programs_AreHardenedAndTrustNoFolderOfTheBuild", { skip }, (t) => {
  const prefix = join(temporaryFolder(t), "usr");
  const installed = spawnSync("cmake", ["--install", dirname(driftscope), "--prefix", prefix], {
    encoding: "utf8",
  });
  assert.equal(installed.status, 0, installed.stderr);
  for (const name of readdirSync(join(prefix, "bin"))) checkShipped(join(prefix, "bin", name));
});

test("Image_StagedProgram_IsHardenedAndTrustsNoFolderOfTheBuild", { skip }, (t) => {
  const folder = join(temporaryFolder(t), "stage");
  // The program under test may lie elsewhere than the one that tools/image/stage takes.
  if (driftscope !== join(root, "build", "native", "driftscope")) return t.skip("another build is tested");
  const staged = spawnSync(join(root, "tools", "image", "stage"), [folder], {
    encoding: "utf8",
    env: { ...process.env, DRIFTSCOPE_SITE: page },
  });
  assert.equal(staged.status, 0, staged.stderr);
  const program = join(folder, "bin", "driftscope");
  checkShipped(program);
  const model = join(folder, "share", "driftscope", "site", "assets", "models", "lenet5.onnx");
  const env = { PATH: "/nowhere", HOME: folder, TMPDIR: process.env.TMPDIR };
  const ran = spawnSync(program, ["compare", model, "--right", "pc/fast,pc/ort"], { encoding: "utf8", env });
  assert.match(ran.stdout, /2 targets agree with pc\/strict within rounding/, ran.stderr);
});

test("Image_Dockerfile_NamesItsBaseByDigestAndRunsAsAUser", () => {
  const lines = readFileSync(join(root, "Dockerfile"), "utf8").split("\n");
  const bases = lines.filter((line) => /^(FROM|ARG BASE=)/.test(line));
  assert.match(bases[0], /^ARG BASE=debian:13-slim@sha256:[0-9a-f]{64}$/);
  for (const line of bases.slice(1)) assert.match(line, /^FROM \$\{BASE\}( AS \w+)?$/);
  const last = lines.lastIndexOf("USER driftscope");
  assert.ok(
    last > lines.findLastIndex((line) => line.startsWith("FROM")),
    "the image that is shipped has a user",
  );
  assert.deepEqual(
    lines.slice(last + 1).filter((line) => /^USER/.test(line)),
    [],
  );
});

test("Completion_OfEveryShell_KnowsCommandsOptionsAndWords", () => {
  const script = `${run(["completion", "bash"]).stdout}
    complete_line() {
      COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
      _driftscope
      echo "\${COMPREPLY[@]}"
    }
    complete_line driftscope comp
    complete_line driftscope compare m.onnx --lay
    complete_line driftscope compare m.onnx --trace f`;
  const { stdout, stderr } = spawnSync("bash", ["-c", script], { encoding: "utf8" });
  assert.deepEqual(stdout.trim().split("\n"), ["compare completion", "--layers", "fused"], stderr);
  assert.match(run(["completion", "zsh"]).stdout, /^#compdef driftscope/);
  assert.match(run(["completion", "fish"]).stdout, /seen_subcommand_from compare' -l layers -r/);
  assert.equal(run(["completion", "tcsh"]).status, 2);
});

test("Manual_OfACommand_IsAPageForMan", () => {
  const { stdout, status } = run(["manual", "compare"]);
  assert.equal(status, 0);
  for (const part of [".TH DRIFTSCOPE-COMPARE 1", ".SH SYNOPSIS", "\\-\\-layers", ".SH NOTES"])
    assert.ok(stdout.includes(part), part);
  assert.match(run(["manual", "nothing"]).stderr, /there is no command 'nothing'/);
});
