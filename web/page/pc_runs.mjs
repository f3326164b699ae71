// A run on the PC that serves this page: the messages of a worker's engine, over HTTP.
// Client: comparison.mjs.
import { RunError } from "../shared/errors.mjs";
import { packMessage, unpackMessage } from "../shared/message.mjs";
import { runsAgain } from "../shared/run_plan.mjs";

const endpoint = new URL("../../api/pc", import.meta.url);
const sliceMs = 200;

/** Whether the target runs on the PC. */
export const isOnPc = (target) => target.startsWith("pc/");

/**
 * Runs `task` = {model, attachments, start, inputs} there, as runInWorker does here; resolves to
 * {reply, file}.
 * `onChange({phase, done, total, sample})` receives progress, `signal` stops it.
 */
export async function runOnPc({ model, attachments = [], start, inputs }, { onChange = () => {}, signal }) {
  const run = crypto.randomUUID?.() ?? String(Math.random()).slice(2);
  const send = async (verb, fields, parts = []) => {
    if (signal?.aborted) throw new RunError("cancelled", "Stopped.");
    let response;
    try {
      response = await fetch(`${endpoint}?run=${run}`, {
        method: "POST",
        headers: { "Content-Type": "application/octet-stream" },
        body: new Blob([packMessage({ do: verb, ...fields }, parts)]),
        signal,
      });
    } catch (error) {
      if (signal?.aborted) throw new RunError("cancelled", "Stopped.");
      throw new RunError(
        "io",
        `The PC does not answer: ${error.message}. Is driftscope serve still running?`,
      );
    }
    if (!response.ok) throw new RunError("io", `The PC refused the run: ${(await response.text()).trim()}`);
    const reply = unpackMessage(new Uint8Array(await response.arrayBuffer()));
    if (reply.head.error) throw new RunError(reply.head.error.kind, reply.head.error.message);
    return reply;
  };
  const table = attachments.map(({ name, bytes }) => ({ name, bytes: bytes.length }));
  const load = { target: start.target, attachments: table, once: !runsAgain(start) };
  await send("load", load, [model, ...attachments.map(({ bytes }) => bytes)]);
  await send("start", { ...start, stream: false, environment: { host: "pc" } }, [inputs]);
  for (let finished = false; !finished;) {
    const { head } = await send("poll", { budget_ms: sliceMs });
    onChange({ phase: head.preparing ? "prepare" : head.timing ? "time" : "run", ...head });
    ({ finished } = head);
  }
  const { head, payload } = await send("finish", {});
  return { reply: head, file: new Blob([payload]) };
}
