// Where the wrong elements of a tensor are, in words: "the last 3 columns", "every 4th element in memory from
// 3 on". Kernels fail by tiles, lanes, channels and edges; which of them it is often names the cause.
// Client: the judge of causes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/model/tensor.hpp"

namespace driftscope {

struct ErrorPattern {
  std::string text = {};
  /// By axis: the largest power of two such that the wrong elements are whole blocks of this size, which
  /// begin at multiples of it (the last one may be cut); 1 along an axis that is wrong everywhere. Empty: the
  /// pattern is one of places in memory.
  std::vector<std::int64_t> tile = {};
  double share = 0.0;  ///< of the tensor's elements that are wrong
  bool block = false;  ///< the elements of one box, or of one run in memory
  bool exact = true;   ///< all elements of the pattern are wrong; else at least nine of ten
};

/// `wrong`: for each element, in C order, whether it is. Nothing where none is, or where they follow no
/// pattern known here.
[[nodiscard]] std::optional<ErrorPattern> error_pattern(std::span<const std::uint8_t> wrong,
                                                        const Shape& shape);

}  // namespace driftscope
