// Ways in which a kernel puts the elements of a tensor in the wrong place: indices off by one, a last block
// that is not written, two axes in the wrong order. Client: variants.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/tensor.hpp"

namespace driftscope {

enum class MovementKind {
  shifted,
  mirrored,
  ends_exchanged,
  last_missing,
  last_repeated,
  first_for_all,
  lanes,         ///< indices in vectors of lanes: modulo 2, 3, 4 or half the size, of the vector, in threes
  half_missing,  ///< the second half of every block of 2, 4, … 64
  transposed
};

struct Movement {
  MovementKind kind = MovementKind::shifted;
  std::string where = {};  ///< "along axis 1", "of axes 2 and 3 in memory"
  /// Element i is the right tensor's at source(i); -1: it is 0.
  std::function<std::int64_t(std::int64_t i)> source = {};
  bool leaves_out = false;  ///< some sources are -1
};

/// All of this kind that change a tensor of this shape.
[[nodiscard]] std::vector<Movement> movements(MovementKind kind, const Shape& shape);

/// The tensor with its elements moved; 4-bit elements stay as they are. Errors: memory.
[[nodiscard]] Result<Tensor> moved(const Tensor& tensor, const Movement& movement);

}  // namespace driftscope
