// What commands say of a hub that is not there, and of wrong options. With devices:
// tests/web/page/hub.test.mjs.
import assert from "node:assert/strict";
import { test } from "node:test";
import { asset, run, temporaryFolder } from "../support.mjs";

const lenet5 = asset("models", "lenet5.onnx");

test("Devices_NoHub_SaysHowToStartOne", (t) => {
  const env = { XDG_STATE_HOME: temporaryFolder(t) };
  const { status, stderr } = run(["devices"], { env });
  assert.equal(status, 3);
  assert.match(stderr, /no hub runs here .*driftscope serve --hub/);
  const ran = run(["run", lenet5, "--target", "remote:phone/strict"], { env });
  assert.equal(ran.status, 3);
  assert.match(ran.stderr, /no hub runs here/);
});

test("RemoteTargets_WithoutADeviceOrWithAnEngineOfThePc_AreErrors", (t) => {
  const env = { XDG_STATE_HOME: temporaryFolder(t) };
  const without = run(["run", lenet5, "--target", "remote/strict"], { env });
  assert.equal(without.status, 2);
  assert.match(without.stderr, /which device\? expected remote:NAME\/strict/);
  const engine = run(["run", lenet5, "--target", "remote:phone/nonsense"], { env });
  assert.equal(engine.status, 2);
  assert.match(engine.stderr, /nonsense/);
});

test("Serve_PublicAddress_IsASecureOriginOfAHub", () => {
  for (const [address, why] of [
    ["http://hub.example.org", /https alone/],
    ["https://hub.example.org/path", /without a path, as https:\/\/hub\.example\.org/],
    ["hub.example.org", /--public/],
  ]) {
    const { status, stderr } = run(["serve", "--hub", "--public", address]);
    assert.equal(status, 2, address);
    assert.match(stderr, why);
  }
  assert.equal(run(["serve", "--public", "https://hub.example.org"]).status, 2);
});

test("Serve_Listen_IsForAHubAtAnAddressOfThisMachine", (t) => {
  const env = { XDG_STATE_HOME: temporaryFolder(t) };
  for (const [options, why] of [
    [["--listen", "all"], /--listen: only a hub answers other machines.*add --hub/],
    [["--hub", "--listen", "all", "--public", "https://hub.example.org"], /--listen and --public/],
    [["--hub", "--listen", "::1"], /--listen: expected an IPv4 address of this machine, or all/],
    [["--hub", "--listen", "phone.local"], /--listen: expected an IPv4 address/],
    [["--hub", "--listen", "127.0.0.1:x"], /--listen: expected a port/],
    [
      ["--hub", "--listen", "192.0.2.77"],
      /--listen: 192\.0\.2\.77 is not an address of this machine; it has /,
    ],
  ]) {
    const { status, stderr } = run(["serve", ...options], { env });
    assert.equal(status, 2, options.join(" "));
    assert.match(stderr, why);
  }
});

// On devices they are on without being given; 0 forbids them.
test("ChecksOfRuns_TakeZeroOrANumberThatSaysSomething", () => {
  const options = ["run", lenet5, "--target", "pc/strict", "--outputs-only"];
  for (const [option, value] of [
    ["--repeat-check", "1"],
    ["--repeat-check", "-1"],
    ["--repeat-check", "many"],
    ["--memory-runs", "19"],
  ]) {
    const { status, stderr } = run([...options, option, value]);
    assert.equal(status, 2, `${option} ${value}`);
    assert.match(stderr, new RegExp(option));
  }
  const none = run([...options, "--repeat-check", "0", "--memory-runs", "0"]);
  assert.equal(none.status, 0, none.stderr);
  assert.doesNotMatch(none.stdout, /memory over|runs agree/);
});
