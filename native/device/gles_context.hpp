// A context of OpenGL ES 3 without a window: what its GPU can do, whether it is still there, and compiled
// programs. Client: gles_device.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "core/device/device.hpp"
#include "native/device/gles_library.hpp"

namespace driftscope::gpu::gles {

inline constexpr int max_layers = 4;  ///< that every OpenGL ES 3 can draw into at once

class Context {
 public:
  /// Where it cannot be opened, state() says why.
  explicit Context(const Library& library);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  /// Makes the context the thread's, which it is of one at a time; sessions run on any.
  class Current {
   public:
    explicit Current(const Context& context);
    ~Current();
    Current(const Current&) = delete;
    Current& operator=(const Current&) = delete;

   private:
    const Context& context_;
  };

  [[nodiscard]] const Functions& gl() const { return gl_; }
  [[nodiscard]] const DeviceFacts& facts() const { return facts_; }
  [[nodiscard]] std::int64_t max_side() const { return max_side_; }  ///< of a texture, texels

  /// The first failure, which is final.
  [[nodiscard]] Status state() const { return failure_ ? Status(*failure_) : Status(); }
  [[nodiscard]] bool lost() const { return lost_; }
  void give_up() { lost_ = true; }
  void fail(Error error);

  /// With the context current: whether the GPU is still there; the same, and that OpenGL has no error.
  Status still_there();
  Status checked(std::string_view doing);

  /// A linked program that draws one triangle over everything with a fragment shader, whose textures in0 to
  /// in15 are the units of these numbers. With the context current; a shader that does not compile ends it.
  Result<GLuint> compile(std::string_view label, const std::string& code);

 private:
  Status open();
  Status describe();
  [[nodiscard]] std::string text(GLenum name) const;

  const EglFunctions& egl_;
  const Functions& gl_;
  EGLDisplay display_;
  EGLContext context_ = EGL_NO_CONTEXT;
  GLuint vertices_ = 0;
  GLuint vertex_ = 0;
  DeviceFacts facts_;
  std::int64_t max_side_ = 0;
  std::optional<Error> failure_;
  bool lost_ = false;
};

}  // namespace driftscope::gpu::gles
