// Another process has the port: exit code 2 with a message that names it; when it is free again the server
// starts on it.
import { createServer } from "node:net";
import { launch, until } from "../programs.mjs";
import { afterwards, exitText, failure } from "../striking.mjs";

export const strikes = "command line";

export async function strike(soak) {
  const other = createServer();
  await new Promise((resolve) => other.listen(0, "127.0.0.1", resolve));
  const { port } = other.address();
  const refused = launch(soak, ["serve", "--port", String(port)]);
  const ended = await refused.done;
  await new Promise((resolve) => other.close(resolve));
  if (ended.status !== 2 || !ended.stderr.includes(String(port)) || !/in use/.test(ended.stderr))
    throw failure(`port ${port} taken: ${exitText(ended)}`, ended);
  const served = launch(soak, ["serve", "--port", String(port)], { folder: refused.folder });
  await until(() => served.output.stdout.includes(`:${port}/`), "the server on the freed port", 20_000);
  served.child.kill("SIGTERM");
  await served.done;
  await afterwards(soak, served);
  return `port ${port}: exit code 2, then free`;
}
