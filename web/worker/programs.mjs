// The shaders that an engine makes for a node: prepares the model, and runs nothing. Client: worker.mjs.
import { openEngine } from "./engine.mjs";

/**
 * `task` as in runner.mjs, with `programsOf` = the node's place in topology, and `table`; `start` is the
 * request "prepare". Resolves to the bytes of the document "node_programs".
 */
export async function programsOf(task) {
  const { base, variant, threads, devices, memory, model, table, start, inputs, programsOf: node } = task;
  const engine = await openEngine({ base, variant, threads, devices, memory });
  engine.request("load", { target: start.target, attachments: table, once: true, unhashed: true }, model);
  engine.request("prepare", start, inputs);
  await engine.prepared();
  for (;;) {
    const { head, payload } = engine.request("programs", { node });
    if (!head.waiting) return payload;
    await engine.settled(); // opening the device, or measuring for it
  }
}
