// Programs that are started: their end is seen, their tree ends, and none is left when the starter is killed.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { endingWith, Processes } from "../../../node/system/processes.mjs";
import { Sockets } from "../../../node/system/sockets.mjs";

const environment = Object.entries(process.env).map(([name, value]) => `${name}=${value}`);
const started = (processes, spec) =>
  new Promise((resolve, reject) =>
    processes.start({ environment, errorsToo: true, ...spec }, (code, pid) =>
      code ? reject(code) : resolve(pid),
    ),
  );
const ended = (processes, pid) => later(() => processes.state(pid) !== 0);
const alive = (pid) => {
  try {
    return !readFileSync(`/proc/${pid}/stat`, "latin1").includes(") Z ");
  } catch {
    return false;
  }
};
const later = async (condition) => {
  const end = Date.now() + 5000;
  while (!condition()) {
    assert.ok(Date.now() < end, "it did not come");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
};

test("Processes_OutputAndStatus_AreThoseOfTheProgram", async () => {
  const processes = new Processes(new Sockets());
  const folder = mkdtempSync(join(tmpdir(), "processes-"));
  const output = join(folder, "log");
  const pid = await started(processes, {
    arguments: ["/bin/sh", "-c", "echo out; echo err >&2; exit 3"],
    output,
  });
  await ended(processes, pid);
  assert.equal(processes.state(pid), 1 + 3);
  assert.equal(readFileSync(output, "utf8"), "out\nerr\n");
  const killed = await started(processes, { arguments: ["/bin/sh", "-c", "kill -KILL $$"] });
  await ended(processes, killed);
  assert.equal(processes.state(killed), -9);
  await assert.rejects(
    started(processes, { arguments: ["/bin/sh"], output: join(folder, "no", "log") }),
    (code) => code === "ENOENT",
  );
  rmSync(folder, { recursive: true });
});

test("Processes_End_TakesTheWholeTree_AlsoWhatHasLeftTheGroup", async () => {
  const processes = new Processes(new Sockets());
  const marker = `DRIFTSCOPE_PROCESS=test-${process.pid}`;
  const program = "sleep 1001 & setsid sleep 1002 & trap '' TERM; while :; do sleep 0.1; done";
  const pid = await started(processes, {
    arguments: ["/bin/sh", "-c", program],
    environment: [...environment, marker],
  });
  const mark = { leader: pid, marker, search: true };
  await new Promise((resolve) => setTimeout(resolve, 300));
  const tree = await processes.find(mark);
  assert.ok(tree.length >= 3, `${tree}`);
  assert.ok((await processes.memory({ pids: tree })) > 0);
  assert.equal(await processes.end({ ...mark, grace: 200 }), true);
  for (const one of tree) assert.ok(!alive(one), `${one}`);
});

const isSleep = (pid) => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "latin1").startsWith("/bin/sleep");
  } catch {
    return false;
  }
};

test("Processes_StarterIsKilled_NothingIsLeft", async (t) => {
  if (process.platform !== "linux") return t.skip("of Linux");
  const module = (name) =>
    JSON.stringify(fileURLToPath(new URL(`../../../node/system/${name}`, import.meta.url)));
  const program = `import { Processes } from ${module("processes.mjs")};
    import { Sockets } from ${module("sockets.mjs")};
    new Processes(new Sockets()).start(
      { arguments: ["/bin/sleep", "1003"], environment: [], errorsToo: false },
      (code, pid) => console.log(pid),
    );
    setInterval(() => {}, 1000);`;
  const other = spawn(process.execPath, ["--input-type=module", "-e", program], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [said] = await once(other.stdout, "data");
  const pid = Number(String(said));
  await later(() => isSleep(pid));
  other.kill("SIGKILL");
  await later(() => !alive(pid));
});

// What setpriv asks of the kernel comes too late when the starter ended before it asked.
test("Processes_StarterHasEndedBeforehand_ProgramDoesNotBegin", (t) => {
  if (process.platform !== "linux") return t.skip("of Linux");
  const said = (starter) => {
    const [program, ...args] = endingWith(starter, ["/bin/echo", "a  b", "$0"]);
    return execFileSync(program, args, { encoding: "utf8" });
  };
  assert.equal(said(process.pid), "a  b $0\n");
  assert.equal(said(process.ppid), "");
});
