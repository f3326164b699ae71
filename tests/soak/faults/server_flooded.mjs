// Many clients that connect and say nothing, or half of something, and then are gone: others are answered.
import { connect } from "node:net";

export const strikes = "server";

export async function strike(soak, random) {
  const server = soak.subjects.get("server");
  const count = random.whole(20, 300);
  const { port, pathname } = new URL(server.url);
  const heads = ["", "GET / HT", `GET ${pathname} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n`, "\0\xff\r\n\r\n"];
  const sockets = Array.from({ length: count }, () => {
    const socket = connect(Number(port), "127.0.0.1", () => socket.write(random.pick(heads)));
    socket.on("error", () => {}).on("data", () => {});
    return socket;
  });
  // More than 256 waiting are too many: some of the others may be refused meanwhile.
  const page = soak.subjects.get("page");
  const wait = () =>
    server.disturb(async () => {
      await soak.sleep(random.between(500, 7000));
      for (const socket of sockets) socket.destroy();
    });
  await (page ? page.disturb(wait) : wait());
  return `${count} connections`;
}
