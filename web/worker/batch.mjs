// Many small runs in one worker: a packed batch in, packed results out. The format is that of
// core/protocol/batch.hpp, its documents those of messages.json. Client: worker.mjs.
import { checkDocument } from "./client.mjs";
import { ServiceError, openEngine, runToEnd } from "./engine.mjs";
import { packMessage, unpackMessage } from "../shared/message.mjs";

async function runOne(engine, start, attachments, model, inputs, onProgress) {
  engine.request("load", { target: start.target, attachments, once: true }, model);
  engine.request("start", start, inputs);
  await engine.prepared();
  await runToEnd(engine, 1000, onProgress);
  return engine.request("finish").payload;
}

/**
 * `open`: the parameters of openEngine; `progress({done, total, prepared, to_prepare})` is called during
 * every case and after it.
 */
export async function runBatch(open, batch, start, progress) {
  const { head, payload } = unpackMessage(batch);
  const answers = [];
  const traces = [];
  let engine = await openEngine(open);
  const { cases } = checkDocument(engine.messages, "batch", head);
  let at = 0;
  const take = (size) => payload.subarray(at, (at += size));
  for (const [index, { model, attachments, inputs }] of cases.entries()) {
    // Attachments follow the model, as required by the service.
    const files = take(attachments.reduce((sum, file) => sum + file.bytes, model));
    const tensors = take(inputs);
    const onProgress = ({ prepared, to_prepare }) =>
      progress({ done: index, total: cases.length, prepared, to_prepare });
    try {
      traces.push(await runOne(engine, start, attachments, files, tensors, onProgress));
      answers.push({ trace: traces.at(-1).length });
    } catch (error) {
      if (error.stuck) throw error; // the page tries another worker
      const { kind = "internal", message } = error;
      answers.push({ error: { kind, message } });
      // After any other failure the engine's memory cannot be trusted, and a heap that grew never shrinks.
      if (!(error instanceof ServiceError) || error.kind === "limit") {
        engine.close();
        engine = await openEngine(open);
      }
    }
    progress({ done: index + 1, total: cases.length });
  }
  return packMessage(checkDocument(engine.messages, "batch_answers", { cases: answers }), traces);
}
