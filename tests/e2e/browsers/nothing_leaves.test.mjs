// A run contacts 127.0.0.1 alone: every address that the program and its browsers name to the kernel is
// looked at, datagrams included.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { asset, driftscope, run, temporaryFolder } from "../support.mjs";

const canTrace = spawnSync("strace", ["-qq", "-o", "/dev/null", "true"]).status === 0;
const skip = canTrace ? false : "strace is missing, or may not trace here";

function tracedCalls(t, target) {
  const log = join(temporaryFolder(t), "calls");
  const calls = "trace=connect,sendto,sendmsg,sendmmsg";
  const command = ["compare", asset("models", "lenet5.onnx"), "--repeat", "50", "--right", target, "--quiet"];
  const { status, stderr } = run(
    ["-f", "-qq", "-yy", "-e", calls, "-e", "signal=none", "-o", log, driftscope, ...command],
    {
      program: "strace",
      timeout: 300_000,
    },
  );
  assert.equal(status, 0, stderr);
  return readFileSync(log, "utf8").split("\n");
}

// A resolver on this machine asks others.
const isElsewhere = (call) =>
  /sin6?_port=htons\(53\)/.test(call) ||
  (/sin6?_port=/.test(call) && !/inet_addr\("127\.\d+\.\d+\.\d+"\)|inet_pton\(AF_INET6, "::1"/.test(call));
// Chromium connects a datagram socket to this address to ask the kernel for a route; that sends nothing.
const isQuestionForARoute = (call) => /connect\(\d+<UDPv6.*"2001:4860:4860::8888"/.test(call);

for (const target of ["chrome/fast", "firefox/fast", "safari/fast", "chrome/webnn"])
  test(`Run_On_${target.replace("/", "_")}_ContactsNobody`, { skip }, (t) => {
    const calls = tracedCalls(t, target);
    assert.ok(
      calls.some((call) => /connect\(\d+<TCP.*127\.0\.0\.1/.test(call)),
      "the page was fetched",
    );
    assert.deepEqual(
      calls.filter((call) => isElsewhere(call) && !isQuestionForARoute(call)),
      [],
    );
  });
