// A PostgreSQL server for a test, of Debian's packages, that ends with it. Not as root, which it refuses.
// null: none is installed.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const nobody = 65534;
const password = "s3cret-pass";

// Where the newest version's programs are.
function programs() {
  try {
    const versions = readdirSync("/usr/lib/postgresql").filter((name) => /^\d+$/.test(name));
    return versions.length ? `/usr/lib/postgresql/${Math.max(...versions.map(Number))}/bin` : undefined;
  } catch {
    return undefined;
  }
}

async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

export async function postgresServer(t) {
  const bin = programs();
  if (!bin) return null;
  const isRoot = process.getuid() === 0;
  // Another user must reach it, who may not enter a private folder for temporary files.
  const folder = mkdtempSync(join(isRoot ? "/tmp" : tmpdir(), "driftscope-postgres-"));
  const running = {};
  t.after(async () => {
    running.child?.kill("SIGQUIT");
    await running.ended;
    rmSync(folder, { recursive: true, force: true });
  });
  const home = join(folder, "pg");
  mkdirSync(home);
  writeFileSync(join(home, "password"), password);
  if (isRoot) {
    chmodSync(folder, 0o711);
    for (const path of [home, join(home, "password")]) chownSync(path, nobody, nobody);
  }
  const asUser = [
    "--pdeathsig",
    "KILL",
    ...(isRoot ? ["--reuid=65534", "--regid=65534", "--clear-groups"] : []),
  ];
  const port = await freePort();
  const begun = spawnSync(
    "setpriv",
    [
      ...[
        ...asUser,
        join(bin, "initdb"),
        "-D",
        join(home, "data"),
        "-U",
        "tester",
        "-E",
        "UTF8",
        "--locale=C",
      ],
      ...["--no-sync", "--auth-local=trust", "--auth-host=scram-sha-256", "--pwfile", join(home, "password")],
    ],
    { encoding: "utf8", timeout: 180_000, cwd: "/" },
  );
  assert.equal(begun.status, 0, begun.stderr);
  const settings = [
    "listen_addresses=127.0.0.1",
    `port=${port}`,
    `unix_socket_directories=${home}`,
    "fsync=off",
  ];
  const child = spawn(
    "setpriv",
    [...asUser, join(bin, "postgres"), "-D", join(home, "data"), ...settings.flatMap((one) => ["-c", one])],
    { cwd: "/", stdio: "ignore" },
  );
  Object.assign(running, { child, ended: new Promise((resolve) => child.on("exit", resolve)) });
  const psql = (statement) =>
    spawnSync(
      join(bin, "psql"),
      ["-h", home, "-p", `${port}`, "-U", "tester", "-d", "postgres", "-qAt", "-c", statement],
      { encoding: "utf8", timeout: 60_000 },
    );
  const end = Date.now() + 120_000;
  while (psql("SELECT 1").status !== 0) {
    assert.ok(Date.now() < end && child.exitCode === null, "the server does not answer");
    await sleep(100);
  }
  return {
    url: (given) => `postgresql://tester${given && `:${given}`}@127.0.0.1:${port}/postgres`,
    sql: (statement) => {
      const done = psql(statement);
      assert.equal(done.status, 0, done.stderr);
      return done.stdout.trim();
    },
  };
}
