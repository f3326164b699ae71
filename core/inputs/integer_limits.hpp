// Which integers an input may hold, as its readers say: indices of Gather within its data, classes of OneHot
// below its depth, also where the input reaches them through Cast, Reshape, Add and the like.
// Client: found inputs. It proves nothing: an index that is computed otherwise is not seen.
#pragma once

#include <cstdint>

#include "core/graph/graph.hpp"

namespace driftscope {

/// low ≤ x < end.
struct IntegerLimits {
  std::int64_t low = 0;
  std::int64_t end = 0;
  bool found = false;  ///< some reader limits it
};

/// Of an input of a graph whose shapes are bound. `low` and `end` are those of an input without limits.
[[nodiscard]] IntegerLimits integer_limits(const Graph& bound, ValueId input, std::int64_t low,
                                           std::int64_t end);

}  // namespace driftscope
