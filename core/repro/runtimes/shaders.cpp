// Driftscope's own shaders: a page that makes the calls of the run again, with a few lines of WebGPU or WebGL
// before them. What is wrong there is the browser's, its driver's or the shader's.
#include <fmt/format.h>

#include "core/repro/issue_parts.hpp"
#include "core/repro/report_files.hpp"

namespace driftscope::repro::shaders {
namespace {

constexpr std::string_view webgpu_calls = R"(
const adapter = await navigator.gpu?.requestAdapter({ powerPreference: "high-performance" });
if (!adapter) throw new Error("this browser finds no GPU that WebGPU can use");
const { maxBufferSize, maxStorageBufferBindingSize, maxComputeInvocationsPerWorkgroup,
  maxComputeWorkgroupSizeX, maxComputeWorkgroupStorageSize } = adapter.limits;
const device = await adapter.requestDevice({ requiredLimits: { maxBufferSize, maxStorageBufferBindingSize,
  maxComputeInvocationsPerWorkgroup, maxComputeWorkgroupSizeX, maxComputeWorkgroupStorageSize } });
device.addEventListener("uncapturederror", ({ error }) => fail(error.message));
const buffers = [], pipelines = [];
function object(id, size) {
  buffers[id] = device.createBuffer({ size, usage: 0x80 | 0x4 | 0x8 }); // STORAGE, COPY_SRC, COPY_DST
}
function write(id, base64) {
  device.queue.writeBuffer(buffers[id], 0, decoded(base64));
}
function program(id, label, code) {
  const module = device.createShaderModule({ label, code });
  pipelines[id] = device.createComputePipeline({ layout: "auto", compute: { module, entryPoint: "main" } });
}
function dispatch(id, bindings, groups) {
  const entries = bindings.map((buffer, binding) => ({ binding, resource: { buffer: buffers[buffer] } }));
  const encoder = device.createCommandEncoder();
  const pass = encoder.beginComputePass();
  pass.setPipeline(pipelines[id]);
  pass.setBindGroup(0, device.createBindGroup({ layout: pipelines[id].getBindGroupLayout(0), entries }));
  pass.dispatchWorkgroups(...groups);
  pass.end();
  device.queue.submit([encoder.finish()]);
}
async function bytesOf(id, size) {
  const staging = device.createBuffer({ size, usage: 0x1 | 0x8 }); // MAP_READ, COPY_DST
  const encoder = device.createCommandEncoder();
  encoder.copyBufferToBuffer(buffers[id], 0, staging, 0, size);
  device.queue.submit([encoder.finish()]);
  await staging.mapAsync(1);
  return new Uint8Array(staging.getMappedRange().slice(0));
}
)";

// Objects are texture arrays of four float32 a texel; one draw writes all layers.
constexpr std::string_view webgl_calls = R"(
const gl = document.createElement("canvas").getContext("webgl2", { antialias: false, depth: false });
if (!gl?.getExtension("EXT_color_buffer_float")) throw new Error("this browser has no WebGL2 with float32");
const textures = [], programs = [], texel = 16;
gl.bindVertexArray(gl.createVertexArray());
const vertex = gl.createShader(gl.VERTEX_SHADER);
gl.shaderSource(vertex, `#version 300 es
void main() {
  gl_Position = vec4(float(gl_VertexID & 1) * 4.0 - 1.0, float(gl_VertexID >> 1) * 4.0 - 1.0, 0.0, 1.0);
}
`);
gl.compileShader(vertex);
function object(id, width, height, layers) {
  const [texture, frame] = [gl.createTexture(), gl.createFramebuffer()];
  gl.bindTexture(gl.TEXTURE_2D_ARRAY, texture);
  gl.texParameteri(gl.TEXTURE_2D_ARRAY, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
  gl.texParameteri(gl.TEXTURE_2D_ARRAY, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
  gl.texStorage3D(gl.TEXTURE_2D_ARRAY, 1, gl.RGBA32F, width, height, layers);
  gl.bindFramebuffer(gl.FRAMEBUFFER, frame);
  const targets = Array.from({ length: layers }, (_, layer) => gl.COLOR_ATTACHMENT0 + layer);
  targets.forEach((target, layer) =>
    gl.framebufferTextureLayer(gl.FRAMEBUFFER, target, texture, 0, layer));
  gl.drawBuffers(targets);
  textures[id] = { texture, frame, layers };
}
function write(id, base64, layerBytes, width) {
  const data = decoded(base64);
  gl.bindTexture(gl.TEXTURE_2D_ARRAY, textures[id].texture);
  for (let layer = 0; layer * layerBytes < data.length; ++layer) {
    const bytes = data.subarray(layer * layerBytes, (layer + 1) * layerBytes);
    for (let y = 0; y * width * texel < bytes.length; ++y) {
      const row = bytes.subarray(y * width * texel, (y + 1) * width * texel);
      const count = Math.ceil(row.length / texel);
      const whole = new Uint8Array(count * texel);
      whole.set(row);
      gl.texSubImage3D(gl.TEXTURE_2D_ARRAY, 0, 0, y, layer, count, 1, 1, gl.RGBA, gl.FLOAT,
        new Float32Array(whole.buffer));
    }
  }
}
function program(id, label, code) {
  const fragment = gl.createShader(gl.FRAGMENT_SHADER);
  gl.shaderSource(fragment, code);
  gl.compileShader(fragment);
  const made = (programs[id] = gl.createProgram());
  gl.attachShader(made, vertex);
  gl.attachShader(made, fragment);
  gl.linkProgram(made);
  if (!gl.getProgramParameter(made, gl.LINK_STATUS))
    throw new Error(`${label}: ${gl.getShaderInfoLog(fragment)} ${gl.getProgramInfoLog(made)}`);
  gl.useProgram(made);
  for (let unit = 0; unit < 16; ++unit) {
    const place = gl.getUniformLocation(made, `in${unit}`);
    if (place) gl.uniform1i(place, unit);
  }
}
function draw(id, read, written, [width, height]) {
  gl.useProgram(programs[id]);
  gl.bindFramebuffer(gl.FRAMEBUFFER, textures[written].frame);
  read.forEach((object, unit) => {
    gl.activeTexture(gl.TEXTURE0 + unit);
    gl.bindTexture(gl.TEXTURE_2D_ARRAY, textures[object].texture);
  });
  gl.viewport(0, 0, width, height);
  gl.drawArrays(gl.TRIANGLES, 0, 3);
}
async function bytesOf(id, size, layerBytes, width) {
  const bytes = new Uint8Array(size);
  gl.bindFramebuffer(gl.FRAMEBUFFER, textures[id].frame);
  for (let layer = 0; layer * layerBytes < size; ++layer) {
    const texels = Math.ceil(Math.min(size - layer * layerBytes, layerBytes) / texel);
    const rows = Math.ceil(texels / width);
    const read = new Float32Array(rows * width * 4);
    gl.readBuffer(gl.COLOR_ATTACHMENT0 + layer);
    gl.readPixels(0, 0, width, rows, gl.RGBA, gl.FLOAT, read);
    const begin = layer * layerBytes;
    bytes.set(new Uint8Array(read.buffer).subarray(0, Math.min(layerBytes, size - begin)), begin);
  }
  if (gl.getError()) throw new Error("WebGL gives an error");
  return bytes;
}
)";

constexpr std::string_view common_calls = R"(
function decoded(base64) {
  return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
}
const arrays = { float32: Float32Array, float16: Uint16Array, int32: Int32Array, uint32: Uint32Array,
  int64: BigInt64Array, uint64: BigUint64Array, int8: Int8Array, uint8: Uint8Array, int16: Int16Array,
  uint16: Uint16Array, bool: Uint8Array, float64: Float64Array };
// order: where each element of the result lies; without it in their order.
async function answer(bytes, type, elements, order) {
  const values = new arrays[type](bytes.buffer, 0, elements);
  const places = order && new Uint32Array(decoded(order).buffer);
  await report(places ? values.map((_, i) => values[places[i]]) : values, type === "float16");
}

// The run of the node, call by call.
)";

template <bool webgl>
std::optional<std::string> page_script(const Report& report) {
  std::string script;
  script += webgl ? webgl_calls : webgpu_calls;
  script += common_calls;
  return script + report.facts.calls;
}

/// What the page needs is in its script.
Result<std::vector<File>> more_files(const Report& report) {
  if (report.facts.calls.empty())
    return unsupported(
        "the target did not say what it did with its device: the result is made by a strict kernel, or the "
        "calls are too long for a page");
  return std::vector<File>();
}

std::vector<std::pair<std::string, std::string>> packages(const Facts& /*facts*/) { return {}; }

template <bool webgl>
std::string issue(const Report& report) {
  const Facts& facts = report.facts;
  std::string text = fmt::format(
      "# {}: a {} gives a wrong result\n\n**Steps to reproduce the problem**\n\nIn the attached folder:\n\n"
      "    npx http-server    # then open index.html\n\nThe page compiles the shaders and runs them, nothing "
      "else; it shows the wrong elements and turns red.\n\n",
      webgl ? "WebGL" : "WebGPU", webgl ? "fragment shader" : "compute shader");
  text += "**Problem description**\n\n" + contents_list(report) + "\n" + element_table(report) +
          cause_text(report) + parameter_section(report) + expected_and_instead(report);
  text += fmt::format("**Browser version**\n\n{}\n\n**OS**\n\n{}\n", facts.browser, facts.system);
  if (!facts.device.empty()) text += fmt::format("\n**GPU**\n\n{}\n", facts.device);
  return text;
}

template <bool webgl>
Runtime runtime(std::string_view engine, std::string_view project) {
  return {.engines = {engine},
          .project = project,
          .model = "",
          .page_script = page_script<webgl>,
          .packages = packages,
          .more_files = more_files,
          .issue = issue<webgl>};
}

}  // namespace

void add_to(RuntimeTable& table) {
  table.add(runtime<false>("webgpu", "WebGPU"));
  table.add(runtime<true>("webgl", "WebGL"));
}

}  // namespace driftscope::repro::shaders
