// Rearranges constants in memory, one element after the other: for engines without a faster
// implementation. Client: GraphLowering.
#pragma once

#include <string_view>

#include "core/lowering/layout.hpp"

namespace driftscope::lowering {

struct Constant {
  std::string_view name;  ///< for messages
  const Shape& shape;     ///< as ONNX has it
  const Tensor& tensor;   ///< in the order of `layout`
  Layout layout;
};

/// The elements in the order of `to`. An error for layouts with packing, whose meaning only an engine knows.
[[nodiscard]] Result<Tensor> rearranged(const Constant& constant, Layout to);

}  // namespace driftscope::lowering
