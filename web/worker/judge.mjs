// Judges a recorded trace of a model, alone or beside another one, in the worker. Client: worker.mjs.
import { openEngine } from "./engine.mjs";

/**
 * `judge` = {left?: bytes, right: bytes} of whole traces. Resolves to {comparison, topology}: as
 * `compare --json` says it, and the model's nodes (core/protocol/verify_trace.hpp).
 */
export async function judgeTrace({ base, variant, threads, judge }, model, attachments) {
  const engine = await openEngine({ base, variant, threads });
  engine.request({ do: "load", attachments }, model);
  const topology = engine.request({ do: "topology" }).head.nodes;
  const left = judge.left ?? new Uint8Array(0);
  const both = new Uint8Array(left.length + judge.right.length);
  both.set(left);
  both.set(judge.right, left.length);
  const { head } = engine.request({ do: "judge", left_bytes: left.length, threads }, both);
  return { comparison: head, topology };
}
