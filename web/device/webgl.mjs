// A WebGL2 context with its textures, programs and recordings, all by the numbers that the engine gives them.
// Objects are texture arrays of four float32 a texel, programs are fragment shaders, a dispatch is one draw
// into all layers of a texture. Clients: devices.mjs, page_devices.mjs.

const texelBytes = 16;
const vertexShader = `#version 300 es
void main() {
  gl_Position = vec4(float(gl_VertexID & 1) * 4.0 - 1.0, float(gl_VertexID >> 1) * 4.0 - 1.0, 0.0, 1.0);
}
`;

const contextOptions = { alpha: false, antialias: false, depth: false, stencil: false };

/** A canvas of this thread with a WebGL2 context; null where there is none. */
function openContext() {
  const canvas =
    typeof document === "undefined" ? new OffscreenCanvas(1, 1) : document.createElement("canvas");
  const options = { ...contextOptions, powerPreference: "high-performance" };
  const gl = canvas.getContext("webgl2", options);
  return gl && { canvas, gl };
}

/** Whether this thread has WebGL2. */
export function hasWebGl2() {
  if (typeof document === "undefined" && typeof OffscreenCanvas === "undefined") return false;
  try {
    const opened = openContext();
    opened?.gl.getExtension("WEBGL_lose_context")?.loseContext();
    return opened !== null;
  } catch {
    return false;
  }
}

/** Which GPU a context is on. */
export function rendererFacts(gl) {
  const info = gl.getExtension("WEBGL_debug_renderer_info");
  const device = gl.getParameter(info ? info.UNMASKED_RENDERER_WEBGL : gl.RENDERER);
  return { device, software: /swiftshader|llvmpipe|softpipe|software/i.test(device) };
}

// Milliseconds of work that may be waited for in one turn of the event loop; a page has to stay responsive.
const briefMs = typeof document === "undefined" ? 60 : 16;

/** Resolves in a later turn of the event loop: at once at first, later less eagerly. */
export function turn(eager) {
  if (!eager) return new Promise((resolve) => setTimeout(resolve, 1));
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}

export class WebGlDevice {
  #gl = null;
  #facts = null;
  #error = null;
  #lost = false;
  #objects = new Map();
  #programs = new Map();
  #compiling = new Set();
  #recordings = new Map();
  #running = 0;
  #pixel = new Float32Array(4);
  #turns = 0;

  constructor() {
    const opened = openContext();
    if (opened) {
      this.#gl = opened.gl;
      opened.canvas.addEventListener("webglcontextlost", () => this.#lose());
      this.#describe();
    } else this.#fail("missing", "this browser cannot create a WebGL2 context");
  }

  #fail(kind, message) {
    this.#error ??= { kind, message };
    this.#lost = true;
  }

  #lose() {
    this.#fail("internal", `the WebGL context on ${this.#facts?.name ?? "this GPU"} was lost`);
  }

  #describe() {
    const gl = this.#gl;
    const { device: name, software } = rendererFacts(gl);
    if (!gl.getExtension("EXT_color_buffer_float"))
      return this.#fail("missing", `${name} cannot draw into float32 textures (EXT_color_buffer_float)`);
    const precision = gl.getShaderPrecisionFormat(gl.FRAGMENT_SHADER, gl.HIGH_FLOAT);
    const side = gl.getParameter(gl.MAX_TEXTURE_SIZE);
    this.timer = gl.getExtension("EXT_disjoint_timer_query_webgl2");
    this.parallel = gl.getExtension("KHR_parallel_shader_compile");
    this.#facts = {
      name,
      software,
      timestamps: Boolean(this.timer),
      max_object_bytes: side * side * texelBytes,
      max_groups: side,
      layers: 4,
      precision_bits: precision.precision,
    };
    gl.bindVertexArray(gl.createVertexArray());
    this.vertex = gl.createShader(gl.VERTEX_SHADER);
    gl.shaderSource(this.vertex, vertexShader);
    gl.compileShader(this.vertex);
  }

  /** Promises of work under way: WebGL does not signal when it is done, so it is polled in later turns. */
  get work() {
    if (this.#error || (this.#running === 0 && this.#compiling.size === 0)) return [];
    return [turn(++this.#turns < 200)];
  }

  look() {
    for (const program of this.#compiling) if (!this.#error && !this.#linked(program)) break;
    if (this.#gl?.isContextLost()) this.#lose();
    if (this.#error) return { error: this.#error, lost: this.#lost };
    const compiled = this.#programs.size - this.#compiling.size;
    return { ready: this.#compiling.size === 0, compiled, facts: this.#facts };
  }

  // Whether a program is there; of those that do not compile, why.
  #linked(program) {
    const gl = this.#gl;
    const { label, fragment, made } = program;
    if (this.parallel && !gl.getProgramParameter(made, this.parallel.COMPLETION_STATUS_KHR)) return false;
    this.#compiling.delete(program);
    if (!gl.getProgramParameter(made, gl.LINK_STATUS)) {
      const why = gl.getShaderInfoLog(fragment) || gl.getProgramInfoLog(made);
      // What does not compile has a log. Where there is none the GPU process has ended, and the event of that
      // is still on its way.
      if (!why || gl.isContextLost()) this.#lose();
      else this.#fail("internal", `the shader of ${label} does not compile on ${this.#facts.name}: ${why}`);
      return false;
    }
    gl.deleteShader(fragment);
    gl.useProgram(made);
    for (let unit = 0; unit < 16; ++unit) {
      const place = gl.getUniformLocation(made, `in${unit}`);
      if (place) gl.uniform1i(place, unit); // those that the shader does not use have none
    }
    return this.parallel !== null; // without it each takes long: one for each look
  }

  object({ id, width, height, layers, label }) {
    const gl = this.#gl;
    const texture = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D_ARRAY, texture);
    gl.texParameteri(gl.TEXTURE_2D_ARRAY, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
    gl.texParameteri(gl.TEXTURE_2D_ARRAY, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
    gl.texStorage3D(gl.TEXTURE_2D_ARRAY, 1, gl.RGBA32F, width, height, layers);
    this.#objects.set(id, { texture, layers, frame: null });
    if (gl.getError() === gl.OUT_OF_MEMORY) {
      const bytes = width * height * layers * texelBytes;
      this.#fail("limit", `${label}: ${this.#facts.name} has no memory for ${bytes} bytes`);
    }
    return this.#error ? { error: this.#error } : {};
  }

  release_object({ object }) {
    const it = this.#objects.get(object);
    if (it) this.#gl.deleteTexture(it.texture);
    if (it?.frame) this.#gl.deleteFramebuffer(it.frame);
    this.#objects.delete(object);
    return {};
  }

  write({ object, width, layer_bytes, data }) {
    const gl = this.#gl;
    const { texture, layers } = this.#objects.get(object);
    gl.bindTexture(gl.TEXTURE_2D_ARRAY, texture);
    const put = (layer, y, texels, rows, bytes) => {
      const whole = new Uint8Array(texels * rows * texelBytes);
      whole.set(bytes);
      const values = new Float32Array(whole.buffer);
      gl.texSubImage3D(gl.TEXTURE_2D_ARRAY, 0, 0, y, layer, texels, rows, 1, gl.RGBA, gl.FLOAT, values);
    };
    for (let layer = 0; layer < layers && layer * layer_bytes < data.length; ++layer) {
      const bytes = data.subarray(layer * layer_bytes, (layer + 1) * layer_bytes);
      const rows = Math.floor(bytes.length / (width * texelBytes));
      const rest = bytes.subarray(rows * width * texelBytes);
      if (rows > 0) put(layer, 0, width, rows, bytes.subarray(0, rows * width * texelBytes));
      if (rest.length > 0) put(layer, rows, Math.ceil(rest.length / texelBytes), 1, rest);
    }
    return {};
  }

  program({ id, label, data }) {
    const gl = this.#gl;
    const fragment = gl.createShader(gl.FRAGMENT_SHADER);
    gl.shaderSource(fragment, new TextDecoder().decode(data));
    gl.compileShader(fragment);
    const made = gl.createProgram();
    gl.attachShader(made, this.vertex);
    gl.attachShader(made, fragment);
    gl.linkProgram(made);
    const program = { label, fragment, made };
    this.#programs.set(id, program);
    this.#compiling.add(program);
    return {};
  }

  record({ id, commands, timed, groups, staging_bytes }) {
    const gl = this.#gl;
    const recording = {
      commands,
      times: null,
      ran: [],
      fence: null,
      view: null,
      staging: null,
      took: Infinity,
    };
    if (timed) recording.times = Array.from({ length: groups }, () => gl.createQuery());
    if (staging_bytes > 0) {
      recording.bytes = staging_bytes;
      recording.staging = gl.createBuffer();
      gl.bindBuffer(gl.PIXEL_PACK_BUFFER, recording.staging);
      gl.bufferData(gl.PIXEL_PACK_BUFFER, staging_bytes, gl.STREAM_READ);
      gl.bindBuffer(gl.PIXEL_PACK_BUFFER, null);
    }
    this.#recordings.set(id, recording);
    return {};
  }

  release_recording({ recording }) {
    const it = this.#recordings.get(recording);
    if (it?.staging) this.#gl.deleteBuffer(it.staging);
    for (const query of it?.times ?? []) this.#gl.deleteQuery(query);
    if (it?.fence) --this.#running;
    this.#recordings.delete(recording);
    return {};
  }

  submit({ recording }) {
    const steps = this.steps(recording);
    while (!steps.next().done);
    return this.#error ? { error: this.#error } : {};
  }

  /** Submits command by command, so that the caller can pause in between. */
  *steps(id) {
    const gl = this.#gl;
    const it = this.#recordings.get(id);
    let timing = -1;
    const endTiming = () => {
      if (timing >= 0) gl.endQuery(this.timer.TIME_ELAPSED_EXT);
      timing = -1;
    };
    it.ran = (it.times ?? []).map(() => false);
    it.view = null;
    for (const command of it.commands) {
      if (command.copy) {
        endTiming();
        this.#copyBack(command.copy, it.staging);
      } else {
        if (timing !== command.timed_as) endTiming();
        if (it.times && !it.ran[command.timed_as]) {
          timing = command.timed_as;
          it.ran[timing] = true;
          gl.beginQuery(this.timer.TIME_ELAPSED_EXT, it.times[timing]);
        }
        this.#draw(command);
      }
      yield;
    }
    endTiming();
    it.fence = gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
    gl.flush();
    it.submitted = performance.now();
    ++this.#running;
    this.#turns = 0;
  }

  #frame(object) {
    const gl = this.#gl;
    const it = this.#objects.get(object);
    if (it.frame) {
      gl.bindFramebuffer(gl.FRAMEBUFFER, it.frame);
      return it;
    }
    it.frame = gl.createFramebuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, it.frame);
    const buffers = Array.from({ length: it.layers }, (_, layer) => gl.COLOR_ATTACHMENT0 + layer);
    buffers.forEach((buffer, layer) =>
      gl.framebufferTextureLayer(gl.FRAMEBUFFER, buffer, it.texture, 0, layer),
    );
    gl.drawBuffers(buffers);
    if (gl.checkFramebufferStatus(gl.FRAMEBUFFER) !== gl.FRAMEBUFFER_COMPLETE && !gl.isContextLost())
      this.#fail("internal", `${this.#facts.name} cannot draw into ${it.layers} layers of float32`);
    return it;
  }

  #draw({ program, bindings, reads, size }) {
    const gl = this.#gl;
    gl.useProgram(this.#programs.get(program).made);
    this.#frame(bindings[reads]);
    bindings.slice(0, reads).forEach((object, unit) => {
      gl.activeTexture(gl.TEXTURE0 + unit);
      gl.bindTexture(gl.TEXTURE_2D_ARRAY, this.#objects.get(object).texture);
    });
    gl.viewport(0, 0, size[0], size[1]);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
  }

  // Whole rows, then the rest of the last one; later copies write over what is beyond it.
  #copyBack({ object, bytes, offset, layer_bytes, width }, staging) {
    const gl = this.#gl;
    const { layers } = this.#frame(object);
    gl.bindBuffer(gl.PIXEL_PACK_BUFFER, staging);
    for (let layer = 0; layer < layers && layer * layer_bytes < bytes; ++layer) {
      const begin = offset + layer * layer_bytes;
      const texels = Math.ceil(Math.min(bytes - layer * layer_bytes, layer_bytes) / texelBytes);
      const rows = Math.floor(texels / width);
      const rest = texels % width;
      gl.readBuffer(gl.COLOR_ATTACHMENT0 + layer);
      if (rows > 0) gl.readPixels(0, 0, width, rows, gl.RGBA, gl.FLOAT, begin);
      const behind = begin + rows * width * texelBytes;
      if (rest > 0) gl.readPixels(0, rows, rest, 1, gl.RGBA, gl.FLOAT, behind);
    }
    gl.bindBuffer(gl.PIXEL_PACK_BUFFER, null);
  }

  finished({ recording }) {
    const gl = this.#gl;
    if (gl.isContextLost()) this.#lose();
    if (this.#error) return { error: this.#error, lost: this.#lost };
    const it = this.#recordings.get(recording);
    if (it.fence) {
      if (it.took < briefMs) this.#await(it);
      else if (gl.clientWaitSync(it.fence, 0, 0) === gl.TIMEOUT_EXPIRED) return { done: false };
      const available = (query, i) =>
        !it.ran[i] || gl.getQueryParameter(query, gl.QUERY_RESULT_AVAILABLE) === true;
      if (!(it.times ?? []).every(available)) return { done: false };
      gl.deleteSync(it.fence);
      it.fence = null;
      it.took = performance.now() - it.submitted;
      --this.#running;
      const code = gl.getError();
      if (code === gl.OUT_OF_MEMORY) this.#fail("limit", `${this.#facts.name} is out of memory`);
      else if (code !== gl.NO_ERROR && code !== gl.CONTEXT_LOST_WEBGL)
        this.#fail("internal", `WebGL on ${this.#facts.name} gives error 0x${code.toString(16)}`);
      if (this.#error) return { error: this.#error, lost: this.#lost };
    }
    const time = (query, i) => (it.ran[i] ? gl.getQueryParameter(query, gl.QUERY_RESULT) : 0);
    return { done: true, times: (it.times ?? []).map(time) };
  }

  // Chromium reports milliseconds late that a fence was reached, so what took little time the last time is
  // waited for: reading does that.
  #await(it) {
    const gl = this.#gl;
    if (it.staging) this.#bringBack(it);
    else gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.FLOAT, this.#pixel);
  }

  #bringBack(it) {
    const gl = this.#gl;
    it.view = new Uint8Array(it.bytes);
    gl.bindBuffer(gl.PIXEL_PACK_BUFFER, it.staging);
    gl.getBufferSubData(gl.PIXEL_PACK_BUFFER, 0, it.view);
    gl.bindBuffer(gl.PIXEL_PACK_BUFFER, null);
  }

  /** All that came back. */
  returned(recording) {
    const it = this.#recordings.get(recording);
    if (!it.view && it.staging) this.#bringBack(it);
    return it.view;
  }

  read({ recording, offset, data }) {
    data.set(this.returned(recording).subarray(offset, offset + data.length));
    return {};
  }

  close() {
    this.#gl?.getExtension("WEBGL_lose_context")?.loseContext();
  }
}
