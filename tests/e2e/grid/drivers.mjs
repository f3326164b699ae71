// What is tried with each driver of a browser, without a grid between: engines; browsers, pages and drivers
// that end in the middle; interrupted commands.
// Clients: chromedriver.test.mjs, geckodriver.test.mjs.
import assert from "node:assert/strict";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { asset, run, start, temporaryFolder, traceDigests, until } from "../support.mjs";
import { browsersOfTheseTests } from "../web_drivers.mjs";

const lenet5 = asset("models", "lenet5.onnx");
const resnet20 = asset("models", "resnet20.onnx");
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const read = (pid, file) => {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return "";
  }
};
// Those of Chromium's pages have spaces between them.
const optionsOf = (pid) => read(pid, "cmdline").split(/[\0 ]/);
// Behind the name, which may have spaces: state, parent, …, time as user and as system.
const numbersOf = (pid) =>
  read(pid, "stat")
    .replace(/^.*\) /s, "")
    .split(" ")
    .map(Number);
const processorTime = (pid) => numbersOf(pid)[11] + numbersOf(pid)[12];
function descendants(pid) {
  const children = readdirSync("/proc").filter(
    (one) => /^\d+$/.test(one) && numbersOf(one)[1] === Number(pid),
  );
  return children.flatMap((one) => [one, ...descendants(one)]);
}

/** One driver: its options for the command, its browsers' processes. */
export async function open(t, kind) {
  const { url, driver } = await kind.open(t);
  const folder = temporaryFolder(t);
  const file = join(folder, "browsers.json");
  const give = (capabilities) => writeFileSync(file, JSON.stringify({ [kind.browser]: capabilities }));
  give(kind.capabilities);
  const browsers = () => browsersOfTheseTests(kind.process);
  // A driver that is killed leaves its browser.
  t.after(() => browsers().forEach((pid) => process.kill(Number(pid), "SIGKILL")));
  return {
    folder,
    driver,
    give,
    browsers,
    options: ["--webdriver", url, "--capabilities", file],
    // Neither a page's process nor another of the browser's own.
    main: () => browsers().find((pid) => !optionsOf(pid).some((one) => /^--?(type=|contentproc)/.test(one))),
    noBrowser: () => until(() => browsers().length === 0, "the browsers' end", 30_000),
  };
}

function busiestPage(it, option) {
  const pages = descendants(it.main()).filter((pid) => optionsOf(pid).includes(option));
  return pages.toSorted((a, b) => processorTime(b) - processorTime(a))[0];
}

/** A command that computes for some seconds, once it does. */
export async function startLongRun(it, target, repeat = 1500) {
  const args = ["run", resnet20, "--target", target, "--repeat", `${repeat}`, ...it.options];
  const running = start([...args, "--trace", join(it.folder, "there.safetensors")]);
  let ended = false;
  running.done.then(() => (ended = true));
  await until(() => ended || /: running$/m.test(running.output.stderr), "the run", 120_000);
  await wait(1500);
  assert.ok(!ended, running.output.stderr);
  return running;
}

/**
 * kind: name (of the tests), browser (for --webdriver), process (its program), page (an option of its pages),
 * capabilities, elsewhere (those of a browser that does not reach this machine), open(t), skip.
 */
export function tryDriver(kind) {
  const { name, browser, skip } = kind;
  const strict = `webdriver:${browser}/strict`;

  test(`${name}_Engines_AgreeWithThePc`, { skip }, async (t) => {
    const it = await open(t, kind);
    const [here, there] = ["here", "there"].map((file) => join(it.folder, `${file}.safetensors`));
    const ran = run(["run", lenet5, "--target", strict, "--trace", there, ...it.options]);
    assert.equal(ran.status, 0, ran.stderr);
    assert.equal(run(["run", lenet5, "--target", "pc/strict", "--trace", here]).status, 0);
    assert.deepEqual(traceDigests(there), traceDigests(here));
    const targets = ["strict", "fast", "webgl", "webgpu"].map((engine) => `webdriver:${browser}/${engine}`);
    const args = ["compare", lenet5, "--right", targets.join(","), "--fail-on", "fault", ...it.options];
    const compared = run(args, { timeout: 300_000 });
    assert.equal(compared.status, 0, compared.stderr);
    for (const target of targets) {
      assert.match(compared.stdout, new RegExp(`^right  ${target}  `, "m"));
      if (!target.endsWith("/webgpu") || !/has no WebGPU/.test(compared.stdout))
        assert.doesNotMatch(compared.stdout, new RegExp(`${target}  failed`));
    }
    await it.noBrowser();
  });

  for (const [part, find] of [
    ["Browser", (it) => it.main()],
    ["Page", (it) => busiestPage(it, kind.page)],
  ])
    test(`${name}_${part}KilledInMidRun_TheRunIsBegunOnceMore`, { skip }, async (t) => {
      const it = await open(t, kind);
      const running = await startLongRun(it, strict);
      process.kill(Number(find(it)), "SIGKILL");
      const { status, stderr } = await running.done;
      assert.equal(status, 0, stderr);
      assert.match(stderr, /its browser was lost, asking for another/);
      const here = join(it.folder, "here.safetensors");
      assert.equal(run(["run", resnet20, "--target", "pc/strict", "--trace", here]).status, 0);
      assert.deepEqual(traceDigests(join(it.folder, "there.safetensors")), traceDigests(here));
      await it.noBrowser();
    });

  test(`${name}_CommandInterrupted_EndsItsBrowser`, { skip }, async (t) => {
    const it = await open(t, kind);
    const running = await startLongRun(it, strict, 20_000);
    running.child.kill("SIGINT");
    assert.equal((await running.done).signal, "SIGINT");
    await it.noBrowser();
  });

  test(`${name}_DriverKilledInMidRun_ThePageStillFinishes`, { skip }, async (t) => {
    const it = await open(t, kind);
    const running = await startLongRun(it, strict);
    it.driver.kill("SIGKILL");
    const { status, stderr } = await running.done;
    assert.equal(status, 0, stderr);
  });

  test(`${name}_DriverAndBrowserKilledInMidRun_IsAClearError`, { skip }, async (t) => {
    const it = await open(t, kind);
    const running = await startLongRun(it, strict, 20_000);
    const main = it.main();
    it.driver.kill("SIGKILL");
    process.kill(Number(main), "SIGKILL");
    const { status, stderr } = await running.done;
    assert.equal(status, 3, stderr);
    assert.match(stderr, /was lost: its driver does not answer: .*, in phase 'run', \d+ of \d+ done/);
    assert.match(stderr, /Another was asked for: .*no browser from http:.*nothing listens there/);
  });

  test(`${name}_BrowserThatDoesNotReachThisMachine_IsAnErrorAndEnded`, { skip }, async (t) => {
    const it = await open(t, kind);
    it.give(kind.elsewhere);
    const failed = run(["run", lenet5, "--target", strict, ...it.options]);
    assert.equal(failed.status, 3, failed.stderr);
    assert.match(failed.stderr, /could not open the page: its driver says 'unknown error: /);
    assert.match(failed.stderr, /how browsers elsewhere reach this machine: docs\/webdriver\.md/);
    await it.noBrowser();
  });
}
