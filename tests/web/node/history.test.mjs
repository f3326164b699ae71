// The history of runs that the page keeps, on a storage of our own.
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

class Storage {
  kept = new Map();
  full = false;
  getItem = (key) => this.kept.get(key) ?? null;
  setItem(key, value) {
    if (this.full) throw new Error("QuotaExceededError");
    this.kept.set(key, value);
  }
  removeItem = (key) => this.kept.delete(key);
}

let loads = 0;
/** The module as in a page that is opened again. */
const open = () => import(`../../../web/page/history.mjs?${++loads}`);

const task = { start: { target: "chrome/strict:threads=2" }, threads: 2, variant: "driftscope-simd-threads" };
const reply = (...times) => ({
  model: { model_sha256: "1a32d042c6cc0e25" },
  reply: { run: { browser: "Chromium 156" }, layers: times.map((time_ns) => ({ time_ns })) },
});

beforeEach(() => {
  globalThis.localStorage = new Storage();
  globalThis.fetch = async () => new Response('{"build":"0123abcd"}');
});

test("the time of unwatched runs counts before that of layers, as a series of its own", async () => {
  const page = await open();
  const run = reply(1000, 500);
  page.addRun("lenet5", task, run);
  run.reply.run.times = { watched_ns: [2000], unwatched: { median_ns: 700 } };
  page.addRun("lenet5", task, run);
  assert.deepEqual(
    page.allSeries().map(({ title, builds }) => [title, builds[0].times_ns]),
    [
      ["lenet5  chrome/strict  2 threads, every layer kept", [1500]],
      ["lenet5  chrome/strict  2 threads", [700]],
    ],
  );
});

test("runs of one model and target are one series, by builds, also after the page was closed", async () => {
  const first = await open();
  await first.learnBuild(task.variant);
  first.addRun("lenet5", task, reply(1000, 500));
  first.addRun("lenet5", task, reply(900, 500));
  globalThis.fetch = async () => new Response('{"build":"89abcdef"}');
  const second = await open();
  await second.learnBuild(task.variant);
  second.addRun("lenet5", task, reply(700));
  second.addRun("lenet1", task, reply(10));
  const allSeries = second.allSeries();
  assert.deepEqual(
    allSeries.map(({ title, where, builds }) => [
      title,
      where,
      builds.map(({ build, times_ns }) => [build, times_ns]),
    ]),
    [
      [
        "lenet5  chrome/strict  2 threads, every layer kept",
        "Chromium 156, driftscope-simd-threads, model 1a32d042",
        [
          ["0123abcd", [1500, 1400]],
          ["89abcdef", [700]],
        ],
      ],
      [
        "lenet1  chrome/strict  2 threads, every layer kept",
        "Chromium 156, driftscope-simd-threads, model 1a32d042",
        [["89abcdef", [10]]],
      ],
    ],
  );
  assert.match(allSeries[0].builds[0].first_seen, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  assert.equal(second.count(), 4);
});

test("another model under the same name is another series", async () => {
  const history = await open();
  history.addRun("model", task, reply(5));
  history.addRun("model", task, { ...reply(50), model: { model_sha256: "ffffffff00000000" } });
  assert.deepEqual(
    history.allSeries().map(({ builds }) => builds[0].times_ns),
    [[5], [50]],
  );
});

test("a run shorter than the clock's step is left out", async () => {
  const history = await open();
  history.addRun("lenet5", task, reply(0, 0));
  assert.equal(history.count(), 0);
});

test("two tabs add to one history, and the oldest runs are removed", async () => {
  const [left, right] = [await open(), await open()];
  left.addRun("a", task, reply(1));
  right.addRun("b", task, reply(2));
  left.addRun("c", task, reply(3));
  assert.equal((await open()).count(), 3);
  for (let i = 0; i < 2000; ++i) left.addRun("d", task, reply(4));
  const { allSeries } = await open();
  assert.deepEqual(
    allSeries().map(({ builds }) => builds[0].times_ns.length),
    [2000],
  );
});

test("damaged, locked and full storage keep the page going", async () => {
  const { kept } = globalThis.localStorage;
  for (const damaged of [
    "{",
    "7",
    '[null, 3, {"title": "x"}, {"title":"t","where":"w","build":"b","when":"n","time_ns":"long"}]',
  ]) {
    kept.set("driftscope-history-1", damaged);
    assert.deepEqual((await open()).allSeries(), []);
  }
  globalThis.localStorage.full = true;
  const full = await open();
  full.addRun("lenet5", task, reply(5));
  full.addRun("lenet5", task, reply(6));
  assert.deepEqual(full.allSeries()[0].builds[0].times_ns, [5, 6]);
  assert.equal(full.count(), 0);
  Object.defineProperty(globalThis, "localStorage", {
    configurable: true,
    get() {
      throw new Error("SecurityError");
    },
  });
  const locked = await open();
  locked.addRun("lenet5", task, reply(5));
  assert.equal(locked.allSeries().length, 1);
  locked.clear();
  assert.deepEqual(locked.allSeries(), []);
  delete globalThis.localStorage;
});
