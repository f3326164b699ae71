// A full disk below what is written, or below the temporary files of a browser: a tmpfs in a mount
// namespace of its own. Words, exit code 2 or 3, nothing half-written.
import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { launch } from "../programs.mjs";
import { afterwards, exitText, failure, model } from "../striking.mjs";

export const strikes = "command line";
export const weight = 2;

export const lacks = () =>
  spawnSync("unshare", ["-rm", "mount", "-t", "tmpfs", "none", "/mnt"]).status === 0
    ? undefined
    : "no mount namespaces (unshare -rm)";

export async function strike(soak, random) {
  const folder = soak.folder(`full${random.whole(0, 1e9)}`);
  const small = join(folder, "small");
  mkdirSync(small);
  const size = random.pick(["4k", "64k", "300k", "2m"]);
  const outputs = random.chance(0.6);
  const args = outputs
    ? random.pick([
        ["run", model("resnet20"), "--trace", "small/out.safetensors"],
        [
          "compare",
          model("lenet5"),
          "--right",
          "pc/fast",
          "--json",
          "small/out.json",
          "--report",
          "small/out.html",
        ],
        ["verify", model("lenet1"), "in.safetensors", "--json", "small/out.json"],
      ])
    : ["compare", model("lenet1"), "--right", "chrome/strict", "--repeat", "1", "--timeout", "15"];
  // The script's last output: what is on the small disk afterwards.
  const mounted = `mount -t tmpfs -o size=${size} none "$1" && shift && "$@"`;
  const script = `${mounted}; code=$?; ls -lA small >&2; exit $code`;
  const run = launch(soak, args[0] === "verify" ? verifyArgs(soak, args) : args, {
    folder,
    wrap: ["unshare", "-rm", "bash", "-c", script, "bash", small],
    env: outputs ? {} : { TMPDIR: small },
  });
  const ended = await run.done;
  const what = `${size}, ${outputs ? args.join(" ") : "temporary files of a browser"}: ${exitText(ended)}`;
  if (ended.signal || ![0, 2, 3].includes(ended.status)) throw failure(what, ended);
  if (ended.status !== 0 && !/space|full|quota|disk/i.test(ended.stderr))
    throw failure(`${what}, without saying that the disk is full`, ended);
  if (outputs && ended.status !== 0 && /small\/\.|\.tmp|\.part/.test(ended.stderr.split("\ntotal ")[1] ?? ""))
    throw failure(`${what}, something unfinished is left`, ended);
  await afterwards(soak, run, { nextArgs: ["run", model("lenet1"), "--trace", "out.safetensors"] });
  return what;
}

function verifyArgs(soak, args) {
  return args.map((arg) => (arg === "in.safetensors" ? soak.tracePath : arg));
}
