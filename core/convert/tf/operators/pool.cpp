// MaxPool, AveragePool: TensorFlow's own where its padding is ONNX's, else on a padded input; dilated ones
// tap by tap. An average over padding that does not count is corrected by a factor for each output.
#include "core/ops/shared/pool.hpp"

#include <fmt/format.h>

#include <limits>

#include "core/convert/tf/windows.hpp"

namespace driftscope::tf::operators::pool {
namespace {

constexpr std::int64_t max_taps = 256;

class Pool {
 public:
  Pool(Lowering& lowering, const OnnxNode& node, bool max)
      : lowering_(lowering), node_(node), max_(max), x_(lowering.shape(node.inputs[0])) {}

  Status run() {
    if (x_.size() < 3 || x_.size() > 5)
      return unsupported(
          fmt::format("pooling over {} axes has no equivalent, only over 1 to 3", x_.size() - 2));
    if (Lowering::has_output(node_, 1))
      return unsupported("the indices of the largest elements, output 1, have no equivalent");
    const DType dtype = lowering_.dtype(node_.inputs[0]);
    DRIFTSCOPE_TRY(PoolPlan plan, plan_pool(node_, x_));
    windows_ = windows_of(std::move(plan.axes));
    const bool plain = windows_.kind != PaddingKind::given && !windows_.dilated() && x_.size() < 5;
    const bool quantized = dtype == DType::int8 && lowering_.dialect().quantized && max_ && plain;
    if (dtype != DType::float32 && !quantized)
      return unsupported(fmt::format("pooling of {} has no equivalent", dtype_name(dtype)));
    DRIFTSCOPE_TRY(include_pad_, flag_attribute(node_, "count_include_pad", false));
    DRIFTSCOPE_TRY(std::string input, read_for_windows(lowering_, node_.inputs[0]));
    if (windows_.dilated()) return by_taps(input);
    bool exact = max_ || windows_.kind == PaddingKind::valid;
    if (windows_.kind == PaddingKind::same && (x_.size() == 5 || include_pad_))
      windows_.kind = PaddingKind::given;
    exact = exact || windows_.kind == PaddingKind::same;
    if (windows_.kind == PaddingKind::given) {
      DRIFTSCOPE_TRY(input, padded(lowering_, input, windows_, fill()));
      windows_.kind = PaddingKind::valid;
    }
    Attributes attributes = {{"ksize", windows_.per_axis(&WindowAxis::kernel)},
                             {"strides", windows_.per_axis(&WindowAxis::stride)},
                             {"padding", std::string(windows_.kind == PaddingKind::same ? "SAME" : "VALID")},
                             {"data_format", std::string(x_.size() == 5 ? "NDHWC" : "NHWC")}};
    const std::string op = std::string(max_ ? "MaxPool" : "AvgPool") + (x_.size() == 5 ? "3D" : "");
    if (exact) return give(op, {input}, std::move(attributes));
    std::int64_t taps = 1;
    for (const WindowAxis& axis : windows_.axes) taps *= axis.kernel;
    DRIFTSCOPE_TRY(const std::string factors, factor_of(static_cast<double>(taps)));
    if (factors.empty()) return give(op, {input}, std::move(attributes));
    return give("Mul", {lowering_.make("of_padded", op, {input}, std::move(attributes), output()), factors},
                {});
  }

 private:
  [[nodiscard]] float fill() const { return max_ ? std::numeric_limits<float>::lowest() : 0.0f; }
  [[nodiscard]] TensorInfo output() const {
    return {DType::float32, window_shape(windows_, x_[0], x_[1]), {}};
  }
  Status give(std::string_view op, Inputs inputs, Attributes attributes) {
    return give_windows(lowering_, node_.outputs[0], op, std::move(inputs), std::move(attributes), windows_);
  }

  [[nodiscard]] std::int64_t counted(const WindowAxis& axis, std::int64_t o) const {
    return include_pad_ ? axis.first_tap_from(o, axis.input + axis.pad_end)
                        : axis.tap_end(o) - axis.tap_begin(o);
  }

  // What turns a sum divided by `divisor` into the average; empty if that is one for all outputs.
  Result<std::string> factor_of(double divisor) {
    Shape shape = window_shape(windows_, 1, 1);
    std::vector<float> factors = {static_cast<float>(divisor)};
    bool all_one = true;
    std::vector<double> counts = {1.0};
    for (const WindowAxis& axis : windows_.axes) {
      std::vector<double> next;
      for (const double before : counts)
        for (std::int64_t o = 0; o < axis.output; ++o)
          next.push_back(before * static_cast<double>(counted(axis, o)));
      counts = std::move(next);
    }
    factors.clear();
    for (const double count : counts) {
      factors.push_back(count > 0.0 ? static_cast<float>(divisor / count) : 0.0f);
      all_one = all_one && factors.back() == 1.0f;
    }
    if (all_one) return std::string();
    DRIFTSCOPE_TRY(Tensor tensor, Tensor::from_values<float>(shape, factors));
    return lowering_.constant(tensor, "corrections");
  }

  // The windows' elements that are k-th in them, for every k.
  Status by_taps(std::string input) {
    std::int64_t taps = 1;
    bool pads = false;
    for (std::size_t axis = 0; axis < windows_.axes.size(); ++axis) {
      taps *= windows_.axes[axis].kernel;
      pads = pads || windows_.pad_begin(axis) > 0 || windows_.pad_end(axis) > 0;
    }
    if (taps > max_taps)
      return unsupported(fmt::format(
          "dilated pooling is composed of its window's {} elements, at most {} here", taps, max_taps));
    if (pads) {
      DRIFTSCOPE_TRY(input, padded(lowering_, input, windows_, fill()));
    }
    std::string so_far;
    for (std::int64_t tap = 0; tap < taps; ++tap) {
      std::vector<SliceRange> ranges = {{0, x_[0], 1}};
      std::int64_t rest = tap;
      for (const WindowAxis& axis : windows_.axes) {
        ranges.push_back({rest % axis.kernel * axis.dilation, axis.output, axis.stride});
        rest /= axis.kernel;
      }
      ranges.push_back({0, x_[1], 1});
      DRIFTSCOPE_TRY(StridedSliceParts parts, strided_slice(lowering_, input, ranges));
      const std::string slice = lowering_.make("tap", "StridedSlice", std::move(parts.inputs),
                                               std::move(parts.attributes), output());
      so_far = tap == 0 ? slice : lowering_.elementwise("taps", max_ ? "Maximum" : "AddV2", {so_far, slice});
    }
    if (max_) return give("Identity", {so_far}, {});
    DRIFTSCOPE_TRY(std::string factors, factor_of(1.0));
    if (factors.empty()) return give("Identity", {so_far}, {});
    return give("Mul", {so_far, factors}, {});
  }

  Lowering& lowering_;
  const OnnxNode& node_;
  bool max_;
  Shape x_;
  Windows windows_;
  bool include_pad_ = false;
};

Status lower_max(Lowering& lowering, const OnnxNode& node) { return Pool(lowering, node, true).run(); }
Status lower_average(Lowering& lowering, const OnnxNode& node) { return Pool(lowering, node, false).run(); }

}  // namespace

void add_to(OperatorTable& table) {
  table.add("MaxPool", lower_max, Prefers::channels_last);
  table.add("AveragePool", lower_average, Prefers::channels_last);
}

}  // namespace driftscope::tf::operators::pool
