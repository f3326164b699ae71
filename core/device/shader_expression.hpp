// Expressions of the preprocessor of shaders: integers, and names that stand for a text. Client:
// shader_source.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/device/shader_source.hpp"

namespace driftscope::gpu {

/// Of names and numbers.
[[nodiscard]] constexpr bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// Nothing where it is no expression of integers.
[[nodiscard]] std::optional<std::int64_t> integer_of(std::string_view expression, const ShaderValues& values);

/// What a name stands for, NAME or NAME[EXPRESSION]; null where it is none of a text.
[[nodiscard]] const std::string* text_of(std::string_view expression, const ShaderValues& values);

}  // namespace driftscope::gpu
