// No file may become large (RLIMIT_FSIZE): as a full disk, in the middle of a file.
import { launch } from "../programs.mjs";
import { afterwards, exitText, failure, model } from "../striking.mjs";

export const strikes = "command line";

export async function strike(soak, random) {
  const bytes = random.pick([1, 4096, 100_000]);
  const args = random.pick([
    ["run", model("resnet20"), "--trace", "out.safetensors"],
    ["compare", model("lenet5"), "--right", "pc/fast", "--json", "out.json", "--report", "out.html"],
  ]);
  const run = launch(soak, args, { wrap: ["prlimit", `--fsize=${bytes}`] });
  const ended = await run.done;
  const what = `files of at most ${bytes} bytes, ${args[0]}: ${exitText(ended)}`;
  if (ended.signal || ![0, 2, 3].includes(ended.status)) throw failure(what, ended);
  if (ended.status !== 0 && ended.stderr.trim() === "") throw failure(`${what}, no reason`, ended);
  await afterwards(soak, run, { nextArgs: args });
  return what;
}
