// What a reduction does to the axes of a float value, and the layouts that it reads and writes. Clients: the
// operators of engines (fast, gpu). How it is computed is theirs.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/lowering/graph_lowering.hpp"

namespace driftscope::lowering {

struct ReducedAxes {
  std::vector<bool> reduced;  ///< of input 0, by axis
  Layout read;                ///< of input 0
  Layout made;                ///< of output 0
};

/// Of Reduce…: `axes_input` is the first opset in which the axes are an input. Nothing where an engine must
/// not take it: no float values, axes that only a run decides, a scalar, or no axis by request.
[[nodiscard]] std::optional<ReducedAxes> reduced_axes(const GraphLowering& lowering, const Node& node,
                                                      std::int64_t axes_input);

/// Of GlobalAveragePool: all but the first two axes.
[[nodiscard]] std::optional<ReducedAxes> pooled_axes(const GraphLowering& lowering, const Node& node);

}  // namespace driftscope::lowering
