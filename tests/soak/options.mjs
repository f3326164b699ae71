// The command line of tools/soak.
import { parseArgs } from "node:util";

const usage = `tools/soak --hours N | --minutes N [--seed N] [--only NAME[,NAME…]] [--no-chaos] [--out DIR]

Lets Driftscope run for hours and breaks what it stands on: one server, one page in one Chromium, one
window and the command line do runs all the time, each checked against the first of its kind; every few
seconds one random fault strikes (a browser killed or stopped; memory, disk, descriptors or ports that are
not there; a clock that jumps; no loopback; the server killed). After each fault the results that are
already there must have the same bytes, nothing may be left behind, and the next run must work.

  --hours N, --minutes N  how long (fractions are allowed)
  --seed N        of all random choices; printed at the start (default: from the clock)
  --only NAMES    only these subjects and faults: names or parts of them, separated by commas; a subject
                  keeps its faults. tools/soak --list shows all
  --no-chaos      no faults: what the curves look like in peace
  --pause A..B    seconds between two faults (default: 1..6)
  --out DIR       where the results go (default: build/soak/SEED)
  --list          the subjects and faults, and which cannot happen here and why

It uses the programs in build (or of $DRIFTSCOPE_BUILD): native/driftscope, native/driftscope-gui, web/site.

What it writes into DIR, also when it is interrupted with Ctrl-C:
  samples.csv     a line every two seconds: memory, descriptors, threads, processes, zombies, files
  curves.svg      the same as a picture: one chart for each curve, faults as marks below
  verdicts.txt    flat, unclear or grows, for each curve, with the slope and the rule
  findings.json   everything abnormal: the time, the fault and an excerpt of the log
  events.log      every fault, every start and end

Read verdicts.txt first. A curve that "grows" is a leak; look at the same curve with --no-chaos to see
whether faults cause it. A finding names the fault that came before it: --only FAULT --seed SEED repeats
that kind alone.

Exit code 0: nothing found; 1: something was; 2: wrong use; 3: something needed is missing.
`;

export class WrongUse extends Error {}

export function readOptions(args) {
  const number = { type: "string" };
  let values;
  try {
    ({ values } = parseArgs({
      args,
      options: {
        hours: number,
        minutes: number,
        seed: number,
        only: { type: "string" },
        out: { type: "string" },
        pause: { type: "string", default: "1..6" },
        "no-chaos": { type: "boolean", default: false },
        list: { type: "boolean", default: false },
        help: { type: "boolean", short: "h", default: false },
      },
    }));
  } catch (error) {
    throw new WrongUse(error.message);
  }
  if (values.help) return { help: usage };
  const seconds = 3600 * positive(values, "hours") + 60 * positive(values, "minutes");
  if (seconds === 0 && !values.list) throw new WrongUse("say how long: --hours N or --minutes N");
  const pause = /^(\d+(?:\.\d+)?)\.\.(\d+(?:\.\d+)?)$/.exec(values.pause)?.slice(1).map(Number);
  if (!pause || pause[0] > pause[1]) throw new WrongUse(`--pause ${values.pause}: expected A..B, as in 1..6`);
  const seed = values.seed === undefined ? Date.now() % 1_000_000_007 : Number(values.seed);
  if (!Number.isSafeInteger(seed)) throw new WrongUse(`--seed ${values.seed}: expected a whole number`);
  return {
    seconds,
    seed,
    pause,
    chaos: !values["no-chaos"],
    only: values.only?.split(",").filter(Boolean) ?? [],
    list: values.list,
    out: values.out,
  };
}

function positive(values, name) {
  if (values[name] === undefined) return 0;
  const number = Number(values[name]);
  if (!(number > 0)) throw new WrongUse(`--${name} ${values[name]}: expected a number above 0`);
  return number;
}
