// A browser behind a WebDriver, as Safari: here WebKitGTK's driver in the place of safaridriver.
import assert from "node:assert/strict";
import { chmodSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { asset, mark, run, temporaryFolder } from "../support.mjs";

const lenet5 = asset("models", "lenet5.onnx");

function driver(t, script) {
  const program = join(temporaryFolder(t), "safaridriver");
  writeFileSync(program, script);
  chmodSync(program, 0o700);
  return { DRIFTSCOPE_SAFARI: program };
}
const real = `#!/bin/sh
[ "$1" != --version ] || { echo "Included with WebKitGTK (Safari's engine)"; exit; }
exec WebKitWebDriver "$@"
`;

test("WebDriver_Safari_RunsTheModel_AndLeavesNothing", (t) => {
  const env = driver(t, real);
  const before = readdirSync(mark);
  const { status, stdout, stderr } = run(
    ["compare", lenet5, "--left", "pc/strict", "--right", "safari/strict,safari/fast", "--times", "0.1"],
    { env },
  );
  assert.equal(status, 0, stdout + stderr);
  assert.match(stdout, /2 targets agree with pc\/strict within rounding, 1 of them bit for bit/);
  assert.deepEqual(readdirSync(mark), before);
  assert.match(run(["doctor"], { env }).stdout, /^yes +safari +WebKitGTK \(Safari's engine\)/m);
});

// A driver that answers as safaridriver does where its owner has not allowed it.
const refusing = `#!${process.execPath}
if (process.argv[2] === "--version") { console.log("Included with Safari 17.4 (19618)"); process.exit(); }
require("node:http").createServer((request, answer) => {
  const message = "You must enable 'Allow remote automation' in the settings of Safari";
  const refused = request.method === "POST";
  answer.writeHead(refused ? 500 : 200, { "Content-Type": "application/json" });
  const value = refused ? { error: "session not created", message } : { ready: true };
  answer.end(JSON.stringify({ value }));
}).listen(Number(process.argv[3]), "127.0.0.1");
`;

test("WebDriver_ThatRefuses_IsQuoted", (t) => {
  const { status, stderr } = run(["run", lenet5, "--target", "safari/strict"], { env: driver(t, refusing) });
  assert.equal(status, 3, stderr);
  assert.match(
    stderr,
    /safari \(Safari 17\.4 \(19618\)\): its driver says 'session not created: You must enable/,
  );
});

test("WebDriver_ThatEnds_IsNotWaitedFor", (t) => {
  const env = driver(t, "#!/bin/sh\necho Included with Safari 17.4\n");
  const { status, stderr } = run(["run", lenet5, "--target", "safari/strict"], { env });
  assert.equal(status, 3, stderr);
  assert.match(stderr, /its driver ended before it answered/);
});
