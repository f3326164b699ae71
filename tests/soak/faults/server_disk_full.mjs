// The server's disk is full (RLIMIT_FSIZE of the running process): a trace is refused with words, nothing
// half-written stays; with room again the next one is saved.
import { spawnSync } from "node:child_process";

export const strikes = "server";

export async function strike(soak, random) {
  const server = soak.subjects.get("server");
  const page = soak.subjects.get("page");
  const bytes = random.pick([0, 1000, 20_000]);
  const limit = (value) => spawnSync("prlimit", [`--pid=${server.pid}`, `--fsize=${value}`]);
  let answer;
  const fill = () =>
    server.disturb(async () => {
      limit(`${bytes}:unlimited`);
      try {
        answer = await server.ask("POST", "api/traces", { body: soak.trace });
      } finally {
        limit("unlimited:unlimited");
      }
    });
  await (page ? page.disturb(fill) : fill());
  const { error } = JSON.parse(answer.body);
  if (!error) throw new Error(`a trace was saved on a full disk: ${answer.body}`);
  await server.nothingUnfinished();
  return `${bytes} bytes: ${answer.status}, ${error}`;
}
