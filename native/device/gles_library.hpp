// OpenGL ES 3 on EGL, loaded when it is first needed: a display without a window, and the functions that the
// device calls. Client: gles_device.cpp.
#pragma once

#include <EGL/egl.h>
#include <GLES3/gl3.h>

#include "core/base/result.hpp"

namespace driftscope::gpu::gles {

/// Of EGL, each named as without "egl".
struct EglFunctions {
  decltype(&eglGetProcAddress) GetProcAddress = nullptr;
  decltype(&eglQueryString) QueryString = nullptr;
  decltype(&eglGetDisplay) GetDisplay = nullptr;
  decltype(&eglInitialize) Initialize = nullptr;
  decltype(&eglBindAPI) BindAPI = nullptr;
  decltype(&eglChooseConfig) ChooseConfig = nullptr;
  decltype(&eglCreateContext) CreateContext = nullptr;
  decltype(&eglDestroyContext) DestroyContext = nullptr;
  decltype(&eglMakeCurrent) MakeCurrent = nullptr;
};

// Those of OpenGL ES 3.0 that are called.
// clang-format off
#define DRIFTSCOPE_GLES_FUNCTIONS(X) \
  X(ActiveTexture) X(AttachShader) X(BeginQuery) X(BindBuffer) X(BindFramebuffer) X(BindTexture) \
  X(BindVertexArray) X(BufferData) X(CheckFramebufferStatus) X(ClientWaitSync) X(CompileShader) \
  X(CreateProgram) X(CreateShader) X(DeleteBuffers) X(DeleteFramebuffers) X(DeleteProgram) \
  X(DeleteQueries) X(DeleteShader) X(DeleteSync) X(DeleteTextures) X(DrawArrays) X(DrawBuffers) \
  X(EndQuery) X(FenceSync) X(Flush) X(FramebufferTextureLayer) X(GenBuffers) X(GenFramebuffers) \
  X(GenQueries) X(GenTextures) X(GenVertexArrays) X(GetError) X(GetIntegerv) X(GetProgramInfoLog) \
  X(GetProgramiv) X(GetQueryObjectuiv) X(GetShaderInfoLog) X(GetShaderPrecisionFormat) \
  X(GetString) X(GetUniformLocation) X(LinkProgram) X(MapBufferRange) X(ReadBuffer) X(ReadPixels) \
  X(ShaderSource) X(TexParameteri) X(TexStorage3D) X(TexSubImage3D) X(Uniform1i) X(UnmapBuffer) \
  X(UseProgram) X(Viewport)
// clang-format on

/// Each named as without "gl".
struct Functions {
#define DRIFTSCOPE_DECLARE(name) decltype(&gl##name) name = nullptr;
  DRIFTSCOPE_GLES_FUNCTIONS(DRIFTSCOPE_DECLARE)
#undef DRIFTSCOPE_DECLARE
  /// Of EXT_robustness; null where it is absent.
  GLenum (*GetGraphicsResetStatus)() = nullptr;
};

struct Library {
  EglFunctions egl;
  Functions gl;
  EGLDisplay display = EGL_NO_DISPLAY;
};

/// Loaded and initialised once; an error says what is missing and what installs it.
[[nodiscard]] const Result<Library>& library();

}  // namespace driftscope::gpu::gles
