// Strikes with one random fault after another. A fault is a file in faults/:
//
//   strikes       the subject that it strikes, by name
//   weight        how often, beside the others (default 1)
//   rare          passed over three times of four
//   lacks(soak)   why it cannot happen here, or nothing (optional)
//   strike(soak, random)   does it, checks what must hold meanwhile, resolves to what was done, in words
//
// Its name is the file's. Here is checked what holds for all: the results that are there have the same
// bytes.
import { readdirSync } from "node:fs";
import { basename } from "node:path";

import { limited } from "./subject.mjs";

const folder = new URL("faults/", import.meta.url);

/** [{name, strikes, weight, lacks, strike}] in the order of their names. */
export async function loadFaults() {
  const files = readdirSync(folder).filter((name) => name.endsWith(".mjs"));
  return Promise.all(
    files.sort().map(async (file) => ({
      name: basename(file, ".mjs").replaceAll("_", " "),
      weight: 1,
      lacks: () => undefined,
      ...(await import(new URL(file, folder).href)),
    })),
  );
}

/**
 * A loop for the server and its page, whose faults touch both, and one for each other subject: no
 * fault waits.
 */
export async function chaosLoops(soak, faults) {
  const able = [];
  for (const fault of faults) {
    const reason = await fault.lacks(soak);
    if (reason) soak.event(`fault left out: ${fault.name}: ${reason}`);
    else able.push(fault);
  }
  const place = ({ strikes }) => (strikes === "page" ? "server" : strikes);
  const places = [...new Set(able.map(place))];
  await Promise.all(
    places.map((one) =>
      loop(
        soak,
        one,
        able.filter((fault) => place(fault) === one),
      ),
    ),
  );
}

async function loop(soak, place, faults) {
  const random = soak.random(`chaos: ${place}`);
  let waiting = []; // each once before any comes again
  while (!soak.ended) {
    await soak.sleep(1000 * random.between(...soak.options.pause));
    if (soak.ended) return;
    if (waiting.length === 0) waiting = faults.flatMap((fault) => Array(fault.weight).fill(fault));
    const [fault] = waiting.splice(random.whole(0, waiting.length - 1), 1);
    if (fault.rare && random.chance(0.75)) continue;
    await strike(soak, fault, random);
  }
}

async function strike(soak, fault, random) {
  const t = soak.now;
  soak.striking.add(fault.name);
  soak.event(`fault begins: ${fault.name}`);
  let text = "";
  try {
    text = await limited(fault.strike(soak, random), 600_000, `the fault ${fault.name}`);
  } catch (error) {
    text = error.message;
    if (!soak.ended) soak.find(fault.strikes, `${fault.name}: ${text}`, `${error.log ?? ""}\n${error.stack}`);
  }
  soak.striking.delete(fault.name);
  if (soak.ended) return;
  soak.faults.push({ t, name: fault.name, text });
  soak.event(`fault ends: ${fault.name}: ${text}`);
  const damaged = soak.results.damage();
  if (damaged.length > 0) soak.find("results", "results that were there have changed", damaged.join("\n"));
}
