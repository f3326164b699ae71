// Loads LiteRT.js and one of its WebAssembly builds into this worker, or into a Node process. Client:
// litert.mjs.
import { PeerError } from "../peers.mjs";
import { loadScript } from "../tfjs/scripts.mjs";

// LiteRT.js loads its script by importScripts, which module workers lack and Node does not know; it has run
// by then.
async function withoutImportScripts(action) {
  const before = Object.getOwnPropertyDescriptor(globalThis, "importScripts");
  Object.defineProperty(globalThis, "importScripts", { value: () => {}, configurable: true, writable: true });
  try {
    return await action();
  } finally {
    if (before) Object.defineProperty(globalThis, "importScripts", before);
    else delete globalThis.importScripts;
  }
}

// A script that is imported again under the same name does not run again.
let scripts = 0;

/**
 * {litert, wasm}: LiteRT.js's module and its WebAssembly module. `instance`: another module for another text,
 * as LiteRT.js holds one runtime each. What it prints goes to `log`.
 */
export async function loadModule(folder, build, instance, log) {
  const script = new URL(build.script, folder);
  try {
    await loadScript(new URL(`?run=${++scripts}`, script));
    const litert = await import(new URL(`litert.mjs?instance=${instance}`, folder).href);
    globalThis.self ??= globalThis; // Node
    globalThis.Module = {
      locateFile: (file) => new URL(file, folder).href,
      mainScriptUrlOrBlob: script.href,
      print: (text) => log.add(text),
      printErr: (text) => log.add(text),
    };
    const loaded = await withoutImportScripts(() => litert.loadLiteRt(script.href));
    return { litert, wasm: loaded.liteRtWasm };
  } catch (error) {
    const said = log.errors();
    const message = `${error?.message ?? error}${said && `: ${said}`}`;
    throw new PeerError("missing", `LiteRT.js could not start (${message})`, true);
  } finally {
    delete globalThis.Module;
    delete globalThis.ModuleFactory;
  }
}
