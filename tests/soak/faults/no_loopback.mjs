// A network namespace in which 127.0.0.1 is down: the PC's targets run, a browser's do not, with words.
import { spawnSync } from "node:child_process";
import { launch } from "../programs.mjs";
import { afterwards, exitText, failure, model } from "../striking.mjs";

export const strikes = "command line";

export const lacks = () =>
  spawnSync("unshare", ["-rn", "true"]).status === 0 ? undefined : "no network namespaces (unshare -rn)";

export async function strike(soak, random) {
  const wrap = ["unshare", "-rn"];
  const [args, allowed] = random.pick([
    [["compare", model("lenet1"), "--right", "pc/fast", "--repeat", "1"], [0]],
    [
      ["compare", model("lenet1"), "--right", "chrome/strict", "--repeat", "1", "--timeout", "8"],
      [2, 3],
    ],
    [
      ["serve", "--port", "0"],
      [2, 3],
    ],
  ]);
  const run = launch(soak, args, { wrap, limit: 90_000 });
  // A server without loopback may listen all the same.
  if (args[0] === "serve")
    await Promise.race([run.done, soak.sleep(3000).then(() => run.child.kill("SIGTERM"))]);
  const ended = await run.done;
  const what = `${args[0]} ${args[3] ?? ""}: ${exitText(ended)}`;
  const served = args[0] === "serve" && (ended.signal === "SIGTERM" || ended.status === 0);
  if (!served && !allowed.includes(ended.status)) throw failure(what, ended);
  if (!served && ended.status !== 0 && ended.stderr.trim() === "") throw failure(`${what}, no reason`, ended);
  await afterwards(soak, run);
  return what;
}
