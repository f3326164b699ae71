// Too little memory: by --max-memory, or by the kernel (RLIMIT_DATA, RLIMIT_AS). Exit code 0 or 2 or 3 with
// words, never a crash.
import { launch } from "../programs.mjs";
import { afterwards, exitText, failure, model } from "../striking.mjs";

export const strikes = "command line";
export const weight = 2;

export async function strike(soak, random) {
  const megabytes = random.pick([24, 48, 80, 120, 200]);
  const bytes = megabytes << 20;
  const [wrap, before] = random.pick([
    [[], ["--max-memory", `${megabytes}MB`]],
    [["prlimit", `--data=${bytes}`], []],
    [["prlimit", `--as=${8 * bytes}`], []],
  ]);
  const args = random.pick([
    ["run", model("vgg16"), "--trace", "out.safetensors"],
    ["compare", model("vgg16"), "--right", "pc/fast,pc/reference", "--repeat", "1", "--json", "out.json"],
    ["compare", model("lenet1"), "--right", "chrome/strict", "--repeat", "1", "--json", "out.json"],
  ]);
  const run = launch(soak, [...before, ...args], { wrap });
  const ended = await run.done;
  const what = `${[...wrap, ...before].join(" ")}, ${args[0]}: ${exitText(ended)}`;
  if (ended.signal || ![0, 2, 3].includes(ended.status)) throw failure(what, ended);
  // Or the browser says why it ended.
  if (
    ended.status !== 0 &&
    !/memory|alloc|space|unavailable|ended before|killed by signal/i.test(ended.stdout + ended.stderr)
  )
    throw failure(`${what}, no reason`, ended);
  await afterwards(soak, run, { nextArgs: ["run", model("lenet1")] });
  return what;
}
