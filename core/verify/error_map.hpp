// How large the errors of a wrong tensor are and where, small enough to be stored with the explanation of a
// layer: two axes of the tensor in cells. Clients: causes, which makes it; the screens, which draw it
// (core/draw/error_chart.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/function_ref.hpp"
#include "core/model/tensor.hpp"

namespace driftscope {

struct ErrorMap {
  /// Down and across: those along which the share of wrong elements varies most; one axis of a vector.
  std::vector<std::int64_t> axes = {};
  std::vector<std::int64_t> sizes = {};  ///< of these axes
  /// A text for each row of cells, a digit for each cell: 0, no element is wrong there; else how many digits
  /// the largest error has before the point, in budgets: 1 is below 10 ×. 9: more, not a number, an integer.
  std::vector<std::string> cells = {};
};

/// Most cells in each direction.
inline constexpr std::int64_t max_error_cells = 40;

/// `wrong`: for each element, in C order, whether it is; `error_of`: of a wrong one, its error ÷ budget.
/// Nothing where none is wrong.
[[nodiscard]] std::optional<ErrorMap> error_map(std::span<const std::uint8_t> wrong, const Shape& shape,
                                                FunctionRef<double(std::size_t)> error_of);

}  // namespace driftscope
