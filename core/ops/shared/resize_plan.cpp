// Compiled for size on the web (cmake/core.cmake).
#include "core/ops/shared/resize_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "core/eval/evaluate.hpp"
#include "core/graph/attributes.hpp"

namespace driftscope {
namespace {

// Longest resized axis: its plan holds the neighbours of every element.
constexpr std::int64_t max_length = std::int64_t{1} << 24;

using Mode = Resampling::Mode;
using Coordinate = Resampling::Coordinate;
using Nearest = Resampling::Nearest;

template <class Enum, std::size_t n>
Result<Enum> choose(const Node& node, std::string_view attribute, std::string_view fallback,
                    const std::array<std::pair<std::string_view, Enum>, n>& rows) {
  DRIFTSCOPE_TRY(const std::string text, string_attribute(node, attribute, fallback));
  std::string choices;
  for (const auto& [name, value] : rows) {
    if (name == text) return value;
    choices += fmt::format("{}{}", choices.empty() ? "" : ", ", name);
  }
  return bad_input(fmt::format("attribute {}: expected one of {}, got '{}'", attribute, choices, text));
}

constexpr std::array<std::pair<std::string_view, Mode>, 4> modes = {{{"nearest", Mode::nearest},
                                                                     {"linear", Mode::linear},
                                                                     {"bilinear", Mode::linear},
                                                                     {"cubic", Mode::cubic}}};
constexpr std::array<std::pair<std::string_view, Coordinate>, 7> coordinates = {
    {{"half_pixel", Coordinate::half_pixel},
     {"half_pixel_symmetric", Coordinate::half_pixel_symmetric},
     {"pytorch_half_pixel", Coordinate::pytorch_half_pixel},
     {"align_corners", Coordinate::align_corners},
     {"asymmetric", Coordinate::asymmetric},
     {"tf_half_pixel_for_nn", Coordinate::tf_half_pixel_for_nn},
     {"tf_crop_and_resize", Coordinate::tf_crop_and_resize}}};
constexpr std::array<std::pair<std::string_view, Nearest>, 4> rounding_names = {
    {{"round_prefer_floor", Nearest::round_prefer_floor},
     {"round_prefer_ceil", Nearest::round_prefer_ceil},
     {"floor", Nearest::floor},
     {"ceil", Nearest::ceil}}};
using Policy = ResizeAttributes::Policy;
constexpr std::array<std::pair<std::string_view, Policy>, 3> policies = {
    {{"stretch", Policy::stretch}, {"not_larger", Policy::not_larger}, {"not_smaller", Policy::not_smaller}}};

bool is_upsample(const Node& node) { return node.op_type == "Upsample"; }

Result<std::vector<double>> numbers(const Tensor& tensor, std::string_view name) {
  if (tensor.rank() > 1 || !is_floating(tensor.dtype()))
    return bad_input(fmt::format("{}: expected a vector of floating-point numbers, got {} {}", name,
                                 dtype_name(tensor.dtype()), shape_text(tensor.shape())));
  DRIFTSCOPE_TRY(const auto lifted, lift<double>(tensor));
  return lifted.real;
}

Status expect_count(std::string_view name, std::size_t expected, std::size_t got) {
  if (expected == got) return {};
  return bad_input(fmt::format("{}: expected {} numbers, got {}", name, expected, got));
}

Status check_axis(const ResampledAxis& axis, std::size_t index) {
  if (axis.output > max_length)
    return limit_error(
        fmt::format("axis {}: a resized length of {}, the limit is {}", index, axis.output, max_length));
  if (axis.input == 0 && axis.output > 0)
    return bad_input(fmt::format("axis {}: there is nothing to make {} elements from", index, axis.output));
  return {};
}

Status apply_scales(std::vector<ResampledAxis>& plan, const std::vector<std::size_t>& axes,
                    const std::vector<double>& scales) {
  DRIFTSCOPE_CHECK(expect_count("scales", axes.size(), scales.size()));
  for (std::size_t i = 0; i < axes.size(); ++i) {
    ResampledAxis& axis = plan[axes[i]];
    if (!(scales[i] > 0.0) || !(scales[i] < 0x1p62))
      return bad_input(
          fmt::format("scales: expected positive numbers, got {} for axis {}", scales[i], axes[i]));
    axis.scale = scales[i];
    const double length = std::floor(static_cast<double>(axis.input) * axis.scale);
    axis.output = length < 0x1p62 ? static_cast<std::int64_t>(length) : std::int64_t{1} << 62;
  }
  return {};
}

Status apply_sizes(std::vector<ResampledAxis>& plan, const std::vector<std::size_t>& axes, const Ints& sizes,
                   Policy policy) {
  DRIFTSCOPE_CHECK(expect_count("sizes", axes.size(), sizes.size()));
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (sizes[i] < 0)
      return bad_input(fmt::format("sizes: expected sizes, got {} for axis {}", sizes[i], axes[i]));
    ResampledAxis& axis = plan[axes[i]];
    axis.output = sizes[i];
    if (axis.input == 0) continue;
    axis.scale = static_cast<double>(sizes[i]) / static_cast<double>(axis.input);
    axis.from_size = true;
  }
  if (policy == Policy::stretch || axes.empty()) return {};
  double scale = plan[axes[0]].scale;
  for (const std::size_t axis : axes)
    scale = policy == Policy::not_larger ? std::fmin(scale, plan[axis].scale)
                                         : std::fmax(scale, plan[axis].scale);
  for (const std::size_t at : axes) {
    ResampledAxis& axis = plan[at];
    if (axis.input == 0) continue;
    axis.output = static_cast<std::int64_t>(std::floor(scale * static_cast<double>(axis.input) + 0.5));
    axis.from_size = axis.scale == scale;
    axis.scale = scale;
  }
  return {};
}

Status apply_roi(std::vector<ResampledAxis>& plan, const std::vector<std::size_t>& axes,
                 const std::vector<double>& roi) {
  DRIFTSCOPE_CHECK(expect_count("roi", 2 * axes.size(), roi.size()));
  for (std::size_t i = 0; i < axes.size(); ++i) {
    plan[axes[i]].roi_begin = roi[i];
    plan[axes[i]].roi_end = roi[i + axes.size()];
  }
  return {};
}

Result<std::vector<std::size_t>> chosen_axes(const ResizeAttributes& attributes, std::size_t rank) {
  std::vector<std::size_t> axes;
  if (!attributes.has_axes) {
    for (std::size_t i = 0; i < rank; ++i) axes.push_back(i);
    return axes;
  }
  for (const std::int64_t given : attributes.axes) {
    auto axis = normalize_axis(given, rank);
    if (!axis.ok()) return in_context(std::move(axis).error(), "attribute axes");
    if (std::find(axes.begin(), axes.end(), *axis) != axes.end())
      return bad_input(fmt::format("attribute axes: axis {} appears twice", given));
    axes.push_back(*axis);
  }
  return axes;
}

bool given(const Tensor* tensor) { return tensor != nullptr && tensor->elements() > 0; }

}  // namespace

Result<ResizeAttributes> read_resize(const Node& node) {
  ResizeAttributes result;
  DRIFTSCOPE_TRY(result.how.mode, choose(node, "mode", "nearest", modes));
  if (is_upsample(node) || node.opset < 11) {
    if (result.how.mode == Mode::cubic) return bad_input("attribute mode: cubic exists from opset 11 on");
    result.how.coordinate = Coordinate::asymmetric;
    result.how.nearest = Nearest::simple;
    if (is_upsample(node) && node.opset < 9) {
      DRIFTSCOPE_TRY(result.upsample_scales, floats_attribute(node, "scales", {}));
    }
    return result;
  }
  DRIFTSCOPE_TRY(result.how.coordinate,
                 choose(node, "coordinate_transformation_mode", "half_pixel", coordinates));
  DRIFTSCOPE_TRY(result.how.nearest, choose(node, "nearest_mode", "round_prefer_floor", rounding_names));
  DRIFTSCOPE_TRY(const float a, float_attribute(node, "cubic_coeff_a", -0.75f));
  result.how.cubic_a = static_cast<double>(a);
  DRIFTSCOPE_TRY(result.how.exclude_outside, flag_attribute(node, "exclude_outside", false));
  DRIFTSCOPE_TRY(result.extrapolation, float_attribute(node, "extrapolation_value", 0.0f));
  if (node.opset < 18) return result;
  DRIFTSCOPE_TRY(result.how.antialias, flag_attribute(node, "antialias", false));
  DRIFTSCOPE_TRY(result.policy, choose(node, "keep_aspect_ratio_policy", "stretch", policies));
  result.has_axes = node.attribute("axes") != nullptr;
  DRIFTSCOPE_TRY(result.axes, ints_attribute(node, "axes", {}));
  return result;
}

ResizeInputs resize_inputs(const Node& node) {
  const auto has = [&](std::size_t i) { return i < node.inputs.size() && node.inputs[i] != no_value; };
  ResizeInputs inputs;
  if (is_upsample(node) || node.opset < 11) {
    if (has(1)) inputs.scales = 1;
    return inputs;
  }
  if (has(1)) inputs.roi = 1;
  if (has(2)) inputs.scales = 2;
  if (has(3)) inputs.sizes = 3;
  return inputs;
}

Result<std::vector<ResampledAxis>> plan_resize(const ResizeAttributes& attributes, const Shape& x,
                                               const ResizeValues& values) {
  std::vector<ResampledAxis> plan(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) plan[i].input = plan[i].output = x[i];
  DRIFTSCOPE_TRY(const std::vector<std::size_t> axes, chosen_axes(attributes, x.size()));
  const bool by_sizes = given(values.sizes);
  const bool by_scales = given(values.scales) || !attributes.upsample_scales.empty();
  if (by_sizes == by_scales && !axes.empty())
    return bad_input(by_sizes ? "scales and sizes are both given, expected one of them"
                              : "neither scales nor sizes are given");
  if (by_sizes) {
    DRIFTSCOPE_TRY(const Ints sizes, integers_of(*values.sizes, "sizes"));
    DRIFTSCOPE_CHECK(apply_sizes(plan, axes, sizes, attributes.policy));
  } else if (!attributes.upsample_scales.empty()) {
    const auto& list = attributes.upsample_scales;
    DRIFTSCOPE_CHECK(apply_scales(plan, axes, std::vector<double>(list.begin(), list.end())));
  } else if (by_scales) {
    DRIFTSCOPE_TRY(const auto scales, numbers(*values.scales, "scales"));
    DRIFTSCOPE_CHECK(apply_scales(plan, axes, scales));
  }
  if (attributes.how.coordinate == Coordinate::tf_crop_and_resize) {
    if (!given(values.roi)) return bad_input("roi: tf_crop_and_resize needs it, but it is absent");
    DRIFTSCOPE_TRY(const auto roi, numbers(*values.roi, "roi"));
    DRIFTSCOPE_CHECK(apply_roi(plan, axes, roi));
  }
  for (std::size_t i = 0; i < plan.size(); ++i) DRIFTSCOPE_CHECK(check_axis(plan[i], i));
  return plan;
}

}  // namespace driftscope
