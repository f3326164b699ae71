// The names of the kinds of errors in documents and messages. Clients: whatever writes or reads an error as
// JSON.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "core/base/result.hpp"

namespace driftscope {

/// In the order of the values.
inline constexpr std::array<std::string_view, 7> error_kind_names = {
    "bad_input", "unsupported", "limit", "missing", "io", "cancelled", "internal"};
static_assert(static_cast<std::size_t>(ErrorKind::internal) + 1 == error_kind_names.size());

[[nodiscard]] constexpr std::string_view error_kind_name(ErrorKind kind) {
  return error_kind_names[static_cast<std::size_t>(kind)];
}

[[nodiscard]] constexpr std::optional<ErrorKind> error_kind_named(std::string_view name) {
  for (std::size_t i = 0; i < error_kind_names.size(); ++i)
    if (error_kind_names[i] == name) return static_cast<ErrorKind>(i);
  return std::nullopt;
}

}  // namespace driftscope
