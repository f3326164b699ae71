// Loads scripts that set a global (UMD bundles), in workers and under Node. Client: tensorflow.mjs.

/** Under Node a bundle would export to CommonJS; run as a script of the global scope it sets its global. */
async function runUnderNode(url) {
  const [{ readFile }, { runInThisContext }, { createRequire }, { fileURLToPath }, { dirname }] =
    await Promise.all(["fs/promises", "vm", "module", "url", "path"].map((name) => import(`node:${name}`)));
  const path = fileURLToPath(url);
  // TensorFlow.js and Emscripten look for these where there is Node.
  globalThis.require ??= createRequire(url);
  globalThis.__dirname ??= dirname(path);
  for (const name of ["fs", "path", "perf_hooks", "os"]) globalThis[name] ??= globalThis.require(name);
  runInThisContext(await readFile(path, "utf8"), { filename: path });
}

/** Runs the script at this URL in the global scope. */
export async function loadScript(url) {
  if (url.protocol === "file:") await runUnderNode(url);
  else await import(url.href);
}
