#include "native/device/gles_context.hpp"

#include <GLES3/gl3.h>

#include <EGL/eglext.h>
#include <GLES2/gl2ext.h>
#include <fmt/format.h>

#include <utility>

#include "core/device/texture_extent.hpp"

namespace driftscope::gpu::gles {
namespace {

constexpr const char* vertex_shader = R"(#version 300 es
void main() {
  gl_Position = vec4(float(gl_VertexID & 1) * 4.0 - 1.0, float(gl_VertexID >> 1) * 4.0 - 1.0, 0.0, 1.0);
}
)";

}  // namespace

Context::Context(const Library& library) : egl_(library.egl), gl_(library.gl), display_(library.display) {
  if (Status opened = open(); !opened.ok()) fail(std::move(opened).error());
}

Context::~Context() {
  if (context_ != EGL_NO_CONTEXT) egl_.DestroyContext(display_, context_);  // and all that belongs to it
}

Context::Current::Current(const Context& context) : context_(context) {
  context_.egl_.MakeCurrent(context_.display_, EGL_NO_SURFACE, EGL_NO_SURFACE, context_.context_);
}

Context::Current::~Current() {
  context_.egl_.MakeCurrent(context_.display_, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
}

void Context::fail(Error error) {
  if (!failure_) failure_ = std::move(error);
  lost_ = true;
}

Status Context::still_there() {
  const GLenum status = gl_.GetGraphicsResetStatus == nullptr ? GL_NO_ERROR : gl_.GetGraphicsResetStatus();
  if (status != GL_NO_ERROR)
    fail(internal_error(fmt::format("the GPU {} was lost: its driver was reset", facts_.name)));
  return state();
}

Status Context::checked(std::string_view doing) {
  DRIFTSCOPE_CHECK(still_there());
  const GLenum error = gl_.GetError();
  if (error == GL_OUT_OF_MEMORY)
    fail(limit_error(fmt::format("{}: {} is out of memory", doing, facts_.name)));
  else if (error != GL_NO_ERROR)
    fail(internal_error(fmt::format("{}: OpenGL ES on {} gives error {:#x}", doing, facts_.name, error)));
  return state();
}

Status Context::open() {
  if (egl_.BindAPI(EGL_OPENGL_ES_API) != EGL_TRUE) return missing_error("EGL has no OpenGL ES");
  const EGLint config_wanted[] = {EGL_RENDERABLE_TYPE, EGL_OPENGL_ES3_BIT, EGL_SURFACE_TYPE, 0, EGL_NONE};
  EGLConfig config = nullptr;
  EGLint count = 0;
  egl_.ChooseConfig(display_, config_wanted, &config, 1, &count);
  if (count == 0) config = nullptr;  // EGL_KHR_no_config_context
  const EGLint robust[] = {EGL_CONTEXT_MAJOR_VERSION,
                           3,
                           EGL_CONTEXT_OPENGL_ROBUST_ACCESS,
                           EGL_TRUE,
                           EGL_CONTEXT_OPENGL_RESET_NOTIFICATION_STRATEGY,
                           EGL_LOSE_CONTEXT_ON_RESET,
                           EGL_NONE};
  const EGLint plain[] = {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_NONE};
  context_ = egl_.CreateContext(display_, config, EGL_NO_CONTEXT, robust);
  if (context_ == EGL_NO_CONTEXT) context_ = egl_.CreateContext(display_, config, EGL_NO_CONTEXT, plain);
  if (context_ == EGL_NO_CONTEXT) return missing_error("EGL cannot create an OpenGL ES 3 context");
  if (egl_.MakeCurrent(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, context_) != EGL_TRUE)
    return missing_error("OpenGL ES cannot draw without a window here");
  const Current current(*this);
  return describe();
}

std::string Context::text(GLenum name) const {
  const auto* given = reinterpret_cast<const char*>(gl_.GetString(name));
  return given == nullptr ? std::string() : std::string(given);
}

Status Context::describe() {
  facts_.name = text(GL_RENDERER);
  facts_.driver = "EGL, " + text(GL_VERSION);
  for (const char* software : {"llvmpipe", "softpipe", "SwiftShader", "swrast"})
    if (facts_.name.find(software) != std::string::npos) facts_.software = true;
  const std::string extensions = " " + text(GL_EXTENSIONS) + " ";
  const auto has = [&](const char* name) {
    return extensions.find(fmt::format(" GL_{} ", name)) != std::string::npos;
  };
  if (!has("EXT_color_buffer_float"))
    return missing_error(
        fmt::format("{} cannot draw into float32 textures (EXT_color_buffer_float)", facts_.name));
  facts_.timestamps = has("EXT_disjoint_timer_query");
  GLint range[2];
  GLint bits = 0;
  gl_.GetShaderPrecisionFormat(GL_FRAGMENT_SHADER, GL_HIGH_FLOAT, range, &bits);
  facts_.precision_bits = bits;
  GLint side = 0;
  gl_.GetIntegerv(GL_MAX_TEXTURE_SIZE, &side);
  max_side_ = side;
  facts_.max_groups = static_cast<std::uint32_t>(side);
  facts_.max_object_bytes = max_side_ * max_side_ * texel_bytes;
  facts_.layers = max_layers;
  gl_.GenVertexArrays(1, &vertices_);
  gl_.BindVertexArray(vertices_);
  vertex_ = gl_.CreateShader(GL_VERTEX_SHADER);
  const char* source = vertex_shader;
  gl_.ShaderSource(vertex_, 1, &source, nullptr);
  gl_.CompileShader(vertex_);
  return checked("opening the device");
}

Result<GLuint> Context::compile(std::string_view label, const std::string& code) {
  const GLuint fragment = gl_.CreateShader(GL_FRAGMENT_SHADER);
  const char* source = code.c_str();
  gl_.ShaderSource(fragment, 1, &source, nullptr);
  gl_.CompileShader(fragment);
  const GLuint program = gl_.CreateProgram();
  gl_.AttachShader(program, vertex_);
  gl_.AttachShader(program, fragment);
  gl_.LinkProgram(program);
  GLint linked = 0;
  gl_.GetProgramiv(program, GL_LINK_STATUS, &linked);
  if (linked == 0) {
    DRIFTSCOPE_CHECK(still_there());
    char log[4096] = {};
    gl_.GetShaderInfoLog(fragment, sizeof log, nullptr, log);
    if (log[0] == '\0') gl_.GetProgramInfoLog(program, sizeof log, nullptr, log);
    fail(internal_error(fmt::format("the shader of {} does not compile on {}: {}", label, facts_.name, log)));
  }
  gl_.DeleteShader(fragment);
  DRIFTSCOPE_CHECK(state());
  gl_.UseProgram(program);
  for (int unit = 0; unit < 16; ++unit)  // those that the shader does not use have no place
    if (const GLint place = gl_.GetUniformLocation(program, fmt::format("in{}", unit).c_str()); place >= 0)
      gl_.Uniform1i(place, unit);
  return program;
}

}  // namespace driftscope::gpu::gles
