// Few descriptors (RLIMIT_NOFILE): words and an exit code, never a hang or a crash.
import { launch } from "../programs.mjs";
import { afterwards, exitText, failure, model } from "../striking.mjs";

export const strikes = "command line";

export async function strike(soak, random) {
  const count = random.pick([6, 9, 12, 16, 24, 32]);
  const args = random.pick([
    ["run", model("lenet1"), "--trace", "out.safetensors"],
    ["compare", model("lenet1"), "--right", "chrome/strict", "--repeat", "1", "--timeout", "15"],
    ["compare", model("lenet1"), "--right", "pc/ort", "--repeat", "1"],
  ]);
  const run = launch(soak, args, { wrap: ["prlimit", `--nofile=${count}`] });
  const ended = await run.done;
  const what = `${count} descriptors, ${args[0]}: ${exitText(ended)}`;
  if (ended.signal || ![0, 2, 3].includes(ended.status)) throw failure(what, ended);
  if (ended.status !== 0 && ended.stderr.trim() === "") throw failure(`${what}, no reason`, ended);
  await afterwards(soak, run, { nextArgs: ["run", model("lenet1")] });
  return what;
}
