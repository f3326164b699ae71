// What the gradients of convolutions and pools share. Clients: their rules.
#pragma once

#include <string>
#include <vector>

#include "core/gradient/rule.hpp"
#include "core/ops/shared/window.hpp"

namespace driftscope {

/// Where the windows of a node lie on input 0, whose spatial sizes must be known.
[[nodiscard]] Result<std::vector<WindowAxis>> window_axes(NodeGradient& at, const Ints& kernel);

/// The ConvTranspose that undoes a Conv over these windows: it adds to every place that a window read.
[[nodiscard]] std::string scatter_windows(NodeGradient& at, const std::string& dy, const std::string& weights,
                                          const std::vector<WindowAxis>& axes, std::int64_t groups);

/// Kernel and spatial sizes of a node's weights [M, C/groups, spatial…].
[[nodiscard]] Result<Ints> weight_kernel(NodeGradient& at);

}  // namespace driftscope
