// The server is stopped for some seconds (SIGSTOP); then all clients continue.
export const strikes = "server";

export async function strike(soak, random) {
  const server = soak.subjects.get("server");
  const page = soak.subjects.get("page");
  const seconds = random.between(1, 8);
  const stop = () =>
    server.disturb(async () => {
      server.run.child.kill("SIGSTOP");
      await soak.sleep(1000 * seconds);
      server.run.child.kill("SIGCONT");
    });
  await (page ? page.disturb(stop) : stop());
  return `${seconds.toFixed(1)} s`;
}
