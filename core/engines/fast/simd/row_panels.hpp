// How the kernels of convolutions by rows divide the outputs. Clients: row_convolution.hpp,
// int8_row_convolution.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

namespace driftscope::fast {

struct RowPanels {
  std::size_t lanes = 0;  ///< sums of a vector
  /// Columns of a panel: two vectors. The last panel has one where that is enough for the outputs left.
  [[nodiscard]] std::size_t columns() const { return 2 * lanes; }
  /// Columns of all panels: memory for weights, biases and scales.
  [[nodiscard]] std::int64_t all_columns(std::int64_t outputs) const {
    const auto panel = static_cast<std::int64_t>(columns());
    return (outputs + panel - 1) / panel * panel;
  }
};

}  // namespace driftscope::fast
