// A hub in figures: the memory of `driftscope serve --hub` with many participants, the time from a link to
// the first result, and what a model of ResNet-50's size sends the first time and the second. Prints and
// asserts nothing.
//
//   node tests/bench/hub.mjs [PARTICIPANTS]
import { readFileSync, writeFileSync } from "node:fs";
import { join as joined } from "node:path";
import { onnxModel } from "../e2e/onnx_model.mjs";
import { temporaryFolder } from "../e2e/support.mjs";
import { join, joinHub, lenet5, phone, startHub } from "../web/page/hub_support.mjs";
import { openPage } from "../web/page/support.mjs";

const participants = Number(process.argv[2] ?? 200);
const last = [];
const t = { after: (action) => last.unshift(action) };

const megabytes = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;
function memoryOf(pid) {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+)/.exec(status)[1]) * 1024;
}

// As it is on the wire: it joins by a link of its own and says once a second that it is there.
async function participate(hub, number) {
  const link = new URL(await hub.invite());
  const welcome = await fetch(new URL("api/hub/join", link), {
    method: "POST",
    body: JSON.stringify({ name: `device-${number}` }),
  });
  if (!welcome.ok) throw new Error(`participant ${number}: HTTP ${welcome.status}, ${await welcome.text()}`);
  const cookie = welcome.headers.get("set-cookie").split(";")[0];
  const about = {
    browser: "Chrome 156",
    user_agent: "Mozilla/5.0 (Linux; Android 16) Chrome/156",
    processors: 8,
  };
  const body = JSON.stringify({ about, visible: true });
  const say = () =>
    fetch(new URL("api/hub/here", link), { method: "POST", body, headers: { cookie } }).then((answer) =>
      answer.arrayBuffer(),
    );
  await say();
  const timer = setInterval(() => say().catch(() => {}), 1000);
  t.after(() => clearInterval(timer));
}

async function measureParticipants() {
  const hub = await startHub(t);
  const before = memoryOf(hub.child.pid);
  for (let i = 0; i < participants; ++i) await participate(hub, i);
  await new Promise((resolve) => setTimeout(resolve, 15_000));
  const devices = (await hub.devices()).filter(({ here }) => here).length;
  const after = memoryOf(hub.child.pid);
  console.log(
    `hub: ${megabytes(before)} alone, ${megabytes(after)} with ${participants} participants, ` +
      `${devices} of them connected`,
  );
}

async function measureFirstResult() {
  const hub = await startHub(t);
  const { page } = await openPage(t, phone);
  const begin = performance.now();
  await page.goto(hub.link);
  await join(page, "pixel8");
  const there = performance.now();
  const { status, stderr } = await hub.command([
    "run",
    lenet5,
    "--target",
    "remote:pixel8/strict",
    "--quiet",
  ]);
  if (status !== 0) throw new Error(stderr);
  const seconds = (from) => ((performance.now() - from) / 1000).toFixed(1);
  console.log(
    `from the link to the first result: ${seconds(begin)} s, of which the run's command ${seconds(there)} s`,
  );
}

// One product with as many weights as ResNet-50 has: 25.6 million.
function largeModel(folder) {
  const [rows, columns] = [5000, 5112];
  const values = Float32Array.from({ length: rows * columns }, (_, i) => Math.sin(i));
  const file = joined(folder, "large.onnx");
  writeFileSync(
    file,
    onnxModel({
      nodes: [["MatMul", ["x", "w"], ["y"]]],
      constants: { w: { dtype: "float32", shape: [rows, columns], values } },
      inputs: { x: { dtype: "float32", shape: [1, rows] } },
      outputs: { y: { dtype: "float32", shape: [1, columns] } },
    }),
  );
  return file;
}

async function measureBytes() {
  const hub = await startHub(t);
  let sizes = [];
  const model = largeModel(temporaryFolder(t));
  const prepare = (page) =>
    page.on("response", (response) => {
      if (/\/api\/jobs\/[0-9a-f]+\/model/.test(response.url()))
        sizes.push(response.headerValue("content-length").then(Number, () => 0));
    });
  await joinHub(t, hub, "pixel8", { ...phone, prepare });
  for (const time of ["first", "second"]) {
    sizes = [];
    const args = ["run", model, "--target", "remote:pixel8/strict", "--quiet", "--timeout", "300"];
    const { status, stderr } = await hub.command([...args, "--memory-runs", "0", "--repeat-check", "0"]);
    if (status !== 0) throw new Error(stderr);
    const received = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
    console.log(
      `model of ${megabytes(readFileSync(model).length)}, the ${time} time: ${megabytes(received)} sent`,
    );
  }
}

try {
  await measureParticipants();
  await measureFirstResult();
  await measureBytes();
} finally {
  for (const action of last) await action();
}
