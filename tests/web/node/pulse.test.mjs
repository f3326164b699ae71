// Whether a worker answers, over real ports; and that each pipeline of a GPU is news.
import assert from "node:assert/strict";
import { test } from "node:test";

import { WebGpuDevice } from "../../../web/device/webgpu.mjs";
import { answer, Pulse } from "../../../web/worker/pulse.mjs";

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

test("without a worker there is nothing to say", () => {
  const pulse = new Pulse();
  pulse.ask();
  assert.equal(pulse.silentMs, undefined);
});

test("a worker that answers is not silent; one that does not, is, and is asked once", async () => {
  const pulse = new Pulse();
  const port = pulse.connect();
  await pause(60);
  assert.ok(pulse.silentMs >= 50);
  answer(port);
  pulse.ask();
  await pause(20);
  assert.ok(pulse.silentMs < 50);
  let asked = 0;
  port.onmessage = () => ++asked; // it does not answer any more
  for (let i = 0; i < 5; ++i) pulse.ask();
  await pause(60);
  assert.equal(asked, 1);
  assert.ok(pulse.silentMs >= 50);
  pulse.answered(); // it said something else
  assert.ok(pulse.silentMs < 50);
  pulse.end();
  port.close();
});

test("the next worker is asked anew", async () => {
  const pulse = new Pulse();
  const first = pulse.connect();
  pulse.ask();
  const second = pulse.connect();
  let asked = 0;
  second.onmessage = () => ++asked;
  pulse.ask();
  await pause(20);
  assert.equal(asked, 1);
  pulse.end();
  for (const port of [first, second]) port.close();
});

/** navigator.gpu, whose pipelines are there when the test says so. */
function scriptedGpu() {
  const compiling = [];
  const device = {
    limits: {},
    lost: new Promise(() => {}),
    addEventListener() {},
    createShaderModule: () => ({}),
    createComputePipelineAsync: () => new Promise((resolve) => compiling.push(resolve)),
  };
  const adapter = { features: new Set(), limits: {}, info: {}, requestDevice: async () => device };
  return { compiling, gpu: { requestAdapter: async () => adapter } };
}

test("each pipeline that is compiled is news, not only the last one", async () => {
  const { gpu, compiling } = scriptedGpu();
  const device = new WebGpuDevice(gpu);
  await Promise.all(device.work);
  for (let id = 1; id <= 3; ++id) device.program({ id, label: "it", data: new Uint8Array(0) });
  const seen = [];
  for (const resolve of compiling) {
    const news = Promise.all(device.work);
    resolve({});
    await news;
    const { ready, compiled } = device.look();
    seen.push([ready, compiled]);
  }
  assert.deepEqual(seen, [
    [false, 1],
    [false, 2],
    [true, 3],
  ]);
  assert.deepEqual(device.work, []);
});
