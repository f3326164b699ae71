// The server is killed while the page and other clients use it; the next one serves, and the page goes on
// there.
import { until } from "../programs.mjs";

export const strikes = "server";
export const rare = true; // a life must be long enough for its curves

export async function strike(soak, random) {
  const server = soak.subjects.get("server");
  const page = soak.subjects.get("page");
  await soak.sleep(random.between(0, 1000));
  const { life } = server;
  const kill = () =>
    server.disturb(async () => {
      server.run.child.kill("SIGKILL");
      await until(() => server.life > life || soak.ended, "the next server");
    });
  await (page ? page.disturb(kill) : kill());
  return "killed, started again";
}
