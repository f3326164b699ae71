// A run on the PC that serves this page, or on a device of its hub: the messages of a worker's engine, over
// HTTP. Clients: comparison.mjs, screens.mjs.
import { RunError } from "../shared/errors.mjs";
import { packMessage, unpackMessage } from "../shared/message.mjs";
import { runsAgain } from "../shared/run_plan.mjs";

const endpoint = new URL("../../api/pc", import.meta.url);
const targetsEndpoint = new URL("../../api/targets", import.meta.url);
const sliceMs = 200;

/** Whether the target runs on a device of the PC's hub. */
export const isOnDevice = (target) => target.startsWith("remote:");
/** Whether the PC runs the target, itself or on a device. */
export const isOnPc = (target) => target.startsWith("pc/") || isOnDevice(target);

/** What the devices of the PC's hub run now: [{target, available, detail}]. */
export async function offeredTargets() {
  const response = await fetch(targetsEndpoint, { signal: AbortSignal.timeout(10_000) });
  if (!response.ok) throw new RunError("io", `The PC lists no devices: HTTP ${response.status}`);
  return (await response.json()).targets;
}

/** Sends the messages of a run; resolves to {head, payload}. */
function connectionOf(signal) {
  const run = crypto.randomUUID?.() ?? String(Math.random()).slice(2);
  const post = (verb, fields, parts, options) =>
    fetch(`${endpoint}?run=${run}`, {
      method: "POST",
      headers: { "Content-Type": "application/octet-stream" },
      body: new Blob([packMessage({ do: verb, ...fields }, parts)]),
      ...options,
    });
  // Otherwise it would go on until the PC notices that nobody asks.
  const cancel = () => void post("cancel", {}, [], { keepalive: true }).catch(() => {});
  const send = async (verb, fields, parts = []) => {
    if (signal?.aborted) throw new RunError("cancelled", "Stopped.");
    let response;
    try {
      response = await post(verb, fields, parts, { signal });
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
  return { send, cancel };
}

/**
 * Runs `task` = {model, attachments, start, inputs} there, as runInWorker does here; resolves to
 * {reply, file}.
 * `onChange({phase, done, total, sample, step})` receives progress, with `step` in words from a device;
 * `signal` stops it.
 */
export async function runOnPc({ model, attachments = [], start, inputs }, { onChange = () => {}, signal }) {
  const { send, cancel } = connectionOf(signal);
  const table = attachments.map(({ name, bytes }) => ({ name, bytes: bytes.length }));
  const load = { target: start.target, attachments: table, once: !runsAgain(start) };
  try {
    await send("load", load, [model, ...attachments.map(({ bytes }) => bytes)]);
    await send("start", { ...start, stream: false, environment: { host: "pc" } }, [inputs]);
    for (let finished = false; !finished;) {
      const { head } = await send("poll", { budget_ms: sliceMs });
      onChange({ phase: head.preparing ? "prepare" : head.timing ? "time" : "run", ...head });
      ({ finished } = head);
    }
    const { head, payload } = await send("finish", {});
    return { reply: head, file: new Blob([payload]) };
  } catch (error) {
    if (error.kind === "cancelled" || signal?.aborted) cancel();
    throw error;
  }
}
