// Layers beside the range of float16, for a terminal. Client: the command explain.
#pragma once

#include <span>
#include <string>

#include "core/verify/float16_ranges.hpp"

namespace driftscope {

/// A row for each layer, and a sentence below: what overflows, what would, what becomes 0.
[[nodiscard]] std::string float16_table(std::span<const Float16Range> ranges);

}  // namespace driftscope
