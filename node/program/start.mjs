// Starts a module that is linked with node/system: the program, or its tests.
import { System } from "../system/system.mjs";

/** `module`: the URL of what Emscripten has made. Ends the process when it ends. */
export async function start(module, args, environment = {}) {
  const { default: begin } = await import(module);
  await begin({
    arguments: args,
    system: new System(),
    preRun: [(instance) => Object.assign(instance.ENV, process.env, environment)],
  });
}
