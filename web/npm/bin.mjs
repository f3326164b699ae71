#!/usr/bin/env node
// npx driftscope …: the program that is in this package, as WebAssembly; with $DRIFTSCOPE, or in a clone, the
// native one with the same arguments, input, output and exit code.
import { spawn } from "node:child_process";

import { DriftscopeError, findProgram, ownProgram } from "./program.mjs";

async function startNative() {
  const child = spawn(findProgram(), process.argv.slice(2), { stdio: "inherit" });
  // The program ends its browsers when it receives a signal, so signals are forwarded.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.on("error", (error) => {
    console.error(`driftscope: ${error.message}`);
    process.exitCode = 3;
  });
  child.on("close", (code, signal) => {
    process.exitCode = code ?? (signal === "SIGINT" ? 130 : 1);
  });
}

try {
  const own = process.env.DRIFTSCOPE ? null : ownProgram();
  await (own ? import(own) : startNative());
} catch (error) {
  if (!(error instanceof DriftscopeError)) throw error;
  console.error(`driftscope: ${error.message}`);
  process.exitCode = error.exitCode;
}
