// One GPUDevice with its buffers, pipelines and recordings, all by the numbers that the engine gives them.
// Client: devices.mjs.

const usage = { storage: 0x80 | 0x4 | 0x8, staging: 0x1 | 0x8, resolve: 0x200 | 0x4 };
const mapRead = 1;
const wantedLimits = [
  "maxBufferSize",
  "maxStorageBufferBindingSize",
  "maxComputeInvocationsPerWorkgroup",
  "maxComputeWorkgroupSizeX",
  "maxComputeWorkgroupStorageSize",
];

// Firefox looks about every 80 ms whether the GPU is done, and whenever something is submitted. There is no
// navigator under Node, where the build imports this file to list the engines.
const looksOnlyWhenAsked = /firefox/i.test(globalThis.navigator?.userAgent ?? "");

/** Which GPU an adapter is. */
export function adapterFacts(adapter) {
  const { description, vendor, architecture, isFallbackAdapter } = adapter.info ?? {};
  const name = description || [vendor, architecture].filter(Boolean).join(" ");
  const software =
    adapter.isFallbackAdapter === true ||
    isFallbackAdapter === true ||
    /swiftshader|llvmpipe|lavapipe|software/i.test(`${name} ${architecture}`);
  return { device: name || "a GPU that the browser does not name", software };
}

export class WebGpuDevice {
  #device = null;
  #facts = null;
  #error = null;
  #lost = false;
  #work = new Set(); // promises under way
  #waiting = []; // those who want to know when any of them has ended
  #waits = 0;
  #buffers = new Map();
  #programs = new Map();
  #recordings = new Map();

  constructor(gpu) {
    this.#go(this.#open(gpu));
  }

  /** Resolves when something has ended, not everything: each pipeline is progress. */
  get work() {
    if (this.#work.size === 0) return [];
    return [new Promise((resolve) => this.#waiting.push(resolve))];
  }

  #go(promise) {
    const watched = promise
      .catch((error) => this.#fail("internal", String(error?.message ?? error)))
      .finally(() => {
        this.#work.delete(watched);
        for (const resolve of this.#waiting.splice(0)) resolve();
      });
    this.#work.add(watched);
  }

  #fail(kind, message) {
    this.#error ??= { kind, message };
    this.#lost = true;
  }

  async #open(gpu) {
    const adapter = await gpu.requestAdapter({ powerPreference: "high-performance" });
    if (!adapter) return this.#fail("missing", "this browser finds no GPU that WebGPU can use");
    const { device: name, software } = adapterFacts(adapter);
    const timestamps = adapter.features.has("timestamp-query");
    const device = await adapter.requestDevice({
      requiredFeatures: timestamps ? ["timestamp-query"] : [],
      requiredLimits: Object.fromEntries(wantedLimits.map((limit) => [limit, adapter.limits[limit]])),
    });
    const { limits } = device;
    this.#facts = {
      name,
      software,
      timestamps,
      max_object_bytes: Math.min(limits.maxBufferSize, limits.maxStorageBufferBindingSize),
      max_workgroup_threads: limits.maxComputeInvocationsPerWorkgroup,
      max_workgroup_bytes: limits.maxComputeWorkgroupStorageSize,
      max_groups: limits.maxComputeWorkgroupsPerDimension,
    };
    device.lost.then(({ message }) =>
      this.#fail("internal", `the GPU ${this.#facts.name} was lost: ${message}`),
    );
    device.addEventListener("uncapturederror", ({ error }) => {
      const kind = error.constructor.name === "GPUOutOfMemoryError" ? "limit" : "internal";
      this.#fail(kind, `WebGPU on ${this.#facts.name} says: ${error.message}`);
    });
    this.#device = device;
  }

  look() {
    if (this.#error) return { error: this.#error, lost: this.#lost };
    const compiled = [...this.#programs.values()].filter(({ pipeline }) => pipeline !== null).length;
    const ready = this.#device !== null && compiled === this.#programs.size;
    return { ready, compiled, facts: this.#facts };
  }

  #buffer(bytes, bufferUsage, label) {
    return this.#device.createBuffer({ size: bytes, usage: bufferUsage, label });
  }

  object({ id, bytes, label }) {
    this.#buffers.set(id, this.#buffer(bytes, usage.storage, label));
    return {};
  }

  release_object({ object }) {
    this.#buffers.get(object)?.destroy();
    this.#buffers.delete(object);
    return {};
  }

  write({ object, data }) {
    this.#device.queue.writeBuffer(this.#buffers.get(object), 0, data);
    return {};
  }

  program({ id, label, data }) {
    const program = { pipeline: null };
    this.#programs.set(id, program);
    this.#go(this.#compile(program, label, new TextDecoder().decode(data)));
    return {};
  }

  async #compile(program, label, code) {
    const module = this.#device.createShaderModule({ code, label });
    try {
      program.pipeline = await this.#device.createComputePipelineAsync({
        label,
        layout: "auto",
        compute: { module, entryPoint: "main" },
      });
    } catch (error) {
      const { messages } = await module.getCompilationInfo();
      const said = messages.map(({ lineNum, message }) => `line ${lineNum}: ${message}`);
      const why = [error.message, ...said].join("; ");
      this.#fail("internal", `the shader of ${label} does not compile on ${this.#facts.name}: ${why}`);
    }
  }

  record({ id, commands, timed, groups, staging_bytes: stagingBytes }) {
    const items = commands.map(({ program, bindings, size, copy, timed_as }) => {
      if (copy) return { ...copy, buffer: this.#buffers.get(copy.object), timed_as };
      const { pipeline } = this.#programs.get(program);
      const group = this.#device.createBindGroup({
        layout: pipeline.getBindGroupLayout(0),
        entries: bindings.map((object, binding) => ({
          binding,
          resource: { buffer: this.#buffers.get(object) },
        })),
      });
      return { pipeline, group, size, timed_as };
    });
    const timeBytes = timed ? 16 * groups : 0;
    const recording = { items, timed, groups, timeBytes, stagingBytes, done: true, ran: [] };
    if (timed) {
      recording.queries = this.#device.createQuerySet({ type: "timestamp", count: 2 * groups });
      recording.resolved = this.#buffer(timeBytes, usage.resolve, "timestamps");
    }
    if (stagingBytes > 0) recording.staging = this.#buffer(stagingBytes, usage.staging, "what comes back");
    this.#recordings.set(id, recording);
    return {};
  }

  release_recording({ recording }) {
    const it = this.#recordings.get(recording);
    it?.staging?.destroy();
    it?.resolved?.destroy();
    it?.queries?.destroy();
    this.#recordings.delete(recording);
    return {};
  }

  submit({ recording }) {
    const it = this.#recordings.get(recording);
    if (it.staging?.mapState === "mapped") it.staging.unmap();
    it.done = false;
    it.watched = Boolean(it.staging);
    const encoder = this.#device.createCommandEncoder();
    this.#encode(it, encoder);
    this.#device.queue.submit([encoder.finish()]);
    if (it.staging)
      this.#wait(it, it.staging.mapAsync(mapRead), () => {
        it.view = new Uint8Array(it.staging.getMappedRange());
      });
    return {};
  }

  // Until the GPU has reached what `reached` stands for.
  #wait(it, reached, then) {
    ++this.#waits;
    const done = reached.then(() => {
      then();
      it.done = true;
    });
    this.#go(done.finally(() => --this.#waits));
    if (looksOnlyWhenAsked && this.#waits === 1) this.#ask();
  }

  #ask() {
    if (this.#waits === 0 || this.#error) return;
    this.#device.queue.submit([]);
    setTimeout(() => this.#ask(), 1);
  }

  // One pass for all dispatches, or one for each time, and the copies between them.
  #encode(it, encoder) {
    let pass = null;
    let timedAs = -1;
    it.ran = new Array(it.groups).fill(false);
    const endPass = () => {
      pass?.end();
      pass = null;
    };
    for (const item of it.items) {
      if (!item.pipeline) {
        endPass();
        encoder.copyBufferToBuffer(item.buffer, 0, it.staging, item.offset, item.bytes);
        continue;
      }
      if (it.timed && item.timed_as !== timedAs) endPass();
      if (pass === null) {
        timedAs = item.timed_as;
        const first = it.timed && !it.ran[timedAs];
        if (first) it.ran[timedAs] = true;
        pass = encoder.beginComputePass(
          first
            ? {
                timestampWrites: {
                  querySet: it.queries,
                  beginningOfPassWriteIndex: 2 * timedAs,
                  endOfPassWriteIndex: 2 * timedAs + 1,
                },
              }
            : {},
        );
      }
      pass.setPipeline(item.pipeline);
      pass.setBindGroup(0, item.group);
      pass.dispatchWorkgroups(...item.size);
    }
    endPass();
    if (it.timed) {
      encoder.resolveQuerySet(it.queries, 0, 2 * it.groups, it.resolved, 0);
      encoder.copyBufferToBuffer(it.resolved, 0, it.staging, it.stagingBytes - it.timeBytes, it.timeBytes);
    }
  }

  finished({ recording }) {
    if (this.#error) return { error: this.#error, lost: this.#lost };
    const it = this.#recordings.get(recording);
    if (!it.watched) {
      it.watched = true;
      this.#wait(it, this.#device.queue.onSubmittedWorkDone(), () => {});
    }
    if (!it.done) return { done: false };
    if (!it.timed) return { done: true, times: [] };
    const raw = new BigUint64Array(it.view.slice(it.stagingBytes - it.timeBytes).buffer);
    const times = it.ran.map((ran, i) => {
      const took = Number(raw[2 * i + 1] - raw[2 * i]);
      return ran && took > 0 ? took : 0;
    });
    return { done: true, times };
  }

  read({ recording, offset, data }) {
    const { view } = this.#recordings.get(recording);
    data.set(view.subarray(offset, offset + data.length));
    return {};
  }

  close() {
    this.#device?.destroy();
  }
}
