// Locks between processes: one at a time, and free when their process has ended, however it did.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { Locks } from "../../../node/system/locks.mjs";

const module = fileURLToPath(new URL("../../../node/system/locks.mjs", import.meta.url));
const name = `test-${process.pid}`;

test("Locks_AnotherProcess_KeepsItUntilItIsKilled", async () => {
  const program = `import { Locks } from ${JSON.stringify(module)};
    console.log(await new Locks().lock({ name: ${JSON.stringify(name)} }));
    setInterval(() => {}, 1000);`;
  const other = spawn(process.execPath, ["--input-type=module", "-e", program], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [said] = await once(other.stdout, "data");
  assert.equal(String(said).trim(), "true");
  const locks = new Locks();
  assert.equal(await locks.lock({ name }), false);
  other.kill("SIGKILL");
  await once(other, "exit");
  assert.equal(await locks.lock({ name }), true);
  assert.equal(await locks.lock({ name }), false);
  locks.unlock({ name });
  assert.equal(await locks.lock({ name }), true);
  locks.unlock({ name });
});
