// What an open size of an input is for, by its name and its place, and so which sizes are ordinary there: a
// batch, a picture's height, samples of a sound, tokens. Client: found sizes. It does not know whether a size
// fits the model.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/graph/graph.hpp"

namespace driftscope {

/// One open dimension of an input.
struct OpenSize {
  const Value& input;
  std::size_t axis = 0;
  std::string name;         ///< of the input, in lower case
  std::string symbol = {};  ///< in lower case; empty: it has none
};

struct SizeRole {
  std::string_view name;
  bool (*applies)(const OpenSize& open);
  std::span<const std::int64_t> sizes;  ///< ordinary ones, the first is tried first
};

/// Of this size: the first role in the list that applies; the last one always does.
[[nodiscard]] const SizeRole& role_of(const OpenSize& open);

/// Sizes that are tried where no ordinary one of the role fits, in ascending order.
[[nodiscard]] std::span<const std::int64_t> other_sizes();

}  // namespace driftscope
