#include "core/ops/shared/reduction.hpp"

#include <fmt/format.h>

#include "core/graph/attributes.hpp"
#include "core/ops/shared/shape_rules.hpp"

namespace driftscope {

Result<std::optional<std::vector<std::size_t>>> read_axes(const Node& node, const Tensor* input,
                                                          bool input_given, bool as_input, std::size_t rank) {
  Ints given;
  const std::string label = as_input ? "input 1 (axes)" : "attribute axes";
  if (!as_input) {
    DRIFTSCOPE_TRY(given, ints_attribute(node, "axes", {}));
  } else if (input_given) {
    if (input == nullptr) return std::optional<std::vector<std::size_t>>();
    DRIFTSCOPE_TRY(given, integers_of(*input, label));
  }
  std::vector<std::size_t> axes;
  for (const std::int64_t axis : given) {
    auto normal = normalize_axis(axis, rank);
    if (!normal.ok()) return in_context(std::move(normal).error(), label);
    axes.push_back(*normal);
  }
  std::sort(axes.begin(), axes.end());
  const auto twice = std::adjacent_find(axes.begin(), axes.end());
  if (twice != axes.end()) return bad_input(fmt::format("{}: axis {} is given twice", label, *twice));
  return std::optional(std::move(axes));
}

ReducedLanes::ReducedLanes(const Shape& shape, const std::vector<bool>& reduced) {
  Shape strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  Shape lane_shape;
  std::array<Shape, 1> lane_strides;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    (reduced[i] ? size_ : count_) *= shape[i];
    if (shape[i] == 1) continue;
    if (reduced[i]) {
      lane_shape.push_back(shape[i]);
      lane_strides[0].push_back(strides[i]);
    } else {
      contiguous_ = contiguous_ && lane_shape.empty();
      kept_.push_back(shape[i]);
      strides_[0].push_back(strides[i]);
    }
  }
  if (count_ == 0 || size_ == 0) contiguous_ = true;
  if (contiguous_) return;
  offsets_.resize(static_cast<std::size_t>(size_));
  for (std::size_t i = 0; i < offsets_.size(); ++i)
    offsets_[i] = offsets_at(static_cast<std::int64_t>(i), lane_shape, lane_strides)[0];
}

}  // namespace driftscope
