// The shaders that WGSL and GLSL share are WGSL of words that GLSL has as well, or that a program defines
// (shaders/webgl/values.glsl); only declarations are spelled in another way. Client: the preprocessor. It
// translates nothing else.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace driftscope::gpu {

/// A line with its declarations as GLSL has them: `let x: f32 = 1.0;` is `f32 x = 1.0;`, and
/// `fn f(a: T, b: i32) -> T {` is `T f(T a, i32 b) {`. Nothing where a declaration names no type.
[[nodiscard]] std::optional<std::string> respelled(std::string_view line);

}  // namespace driftscope::gpu
