// The parameters of a Resize or Upsample node, axis by axis. Clients: resize.cpp.
#pragma once

#include <optional>
#include <vector>

#include "core/graph/attributes.hpp"
#include "core/ops/shared/resample.hpp"
#include "core/ops/shared/shape_rules.hpp"

namespace driftscope {

/// The attributes, checked.
struct ResizeAttributes {
  enum class Policy { stretch, not_larger, not_smaller };
  Resampling how;
  float extrapolation = 0.0f;
  Policy policy = Policy::stretch;
  Ints axes;  ///< as given
  bool has_axes = false;
  std::vector<float> upsample_scales;  ///< Upsample before opset 9
};
[[nodiscard]] Result<ResizeAttributes> read_resize(const Node& node);

/// The indices of the inputs; nothing if this operator and opset have no such input.
struct ResizeInputs {
  std::optional<std::size_t> roi;
  std::optional<std::size_t> scales;
  std::optional<std::size_t> sizes;
};
[[nodiscard]] ResizeInputs resize_inputs(const Node& node);

/// Constant inputs; null or empty where absent.
struct ResizeValues {
  const Tensor* roi = nullptr;
  const Tensor* scales = nullptr;
  const Tensor* sizes = nullptr;
};

/// One entry for every axis of x. Errors name the input.
[[nodiscard]] Result<std::vector<ResampledAxis>> plan_resize(const ResizeAttributes& attributes,
                                                             const Shape& x, const ResizeValues& values);

}  // namespace driftscope
