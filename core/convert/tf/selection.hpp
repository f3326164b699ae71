// Nodes that only choose elements of their first input (Slice, Pad by reflection, GatherND, …), whatever
// ONNX's rules for them: their kernel is run on the numbers of the elements while converting. Clients:
// operators/.
#pragma once

#include <optional>

#include "core/convert/tf/lowering.hpp"

namespace driftscope::tf {

/// For each element of output 0 the number of the element of input 0 that it is. An error where another input
/// is not known, `x` is too large, or an element is none of them.
[[nodiscard]] Result<Tensor> selected_elements(const Lowering& lowering, const OnnxNode& node);

/// By axis, which indices of that axis are taken: of a selection that treats each axis by itself; else
/// nothing.
using AxisSelection = std::vector<std::int64_t>;
[[nodiscard]] std::optional<std::vector<AxisSelection>> separate(const Tensor& selected, const Shape& x);

/// Gives output 0 as what each axis selects: one StridedSlice where they are all evenly spaced, else a
/// GatherV2 for each axis that changes; in the order in which the input exists.
[[nodiscard]] Status give_axis_selection(Lowering& lowering, const OnnxNode& node,
                                         const std::vector<AxisSelection>& axes);

/// Gives output 0 as what the node selects, by axis or element by element.
[[nodiscard]] Status give_selection(Lowering& lowering, const OnnxNode& node);

}  // namespace driftscope::tf
