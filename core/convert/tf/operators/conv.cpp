// Conv: Conv2D or DepthwiseConv2dNative, with a bias _FusedConv2D or FusedDepthwiseConv2dNative; three
// spatial axes: Conv3D. Other groups are convolved one by one and joined.
#include <fmt/format.h>

#include "core/convert/tf/windows.hpp"
#include "core/ops/shared/convolution.hpp"

namespace driftscope::tf::operators::conv {
namespace {

class Convolution {
 public:
  Convolution(Lowering& lowering, const OnnxNode& node)
      : lowering_(lowering),
        node_(node),
        x_(lowering.shape(node.inputs[0])),
        w_(lowering.shape(node.inputs[1])) {}

  Status run() {
    if (x_.size() < 3 || x_.size() > 5)
      return unsupported(
          fmt::format("a convolution over {} axes has no equivalent, only over 1 to 3", x_.size() - 2));
    DRIFTSCOPE_TRY(const std::int64_t group, read_group(node_));
    DRIFTSCOPE_TRY(const WindowAttributes attributes, read_window(node_, Ints(w_.begin() + 2, w_.end())));
    DRIFTSCOPE_TRY(auto axes, place_windows(attributes, std::span(x_).subspan(2)));
    windows_ = windows_of(std::move(axes));
    for (const WindowAxis& axis : windows_.axes) strided_ = strided_ || axis.stride > 1;
    // Dilation and strides together: every output of the dilated one is computed, and some are kept.
    subsample_ = strided_ && windows_.dilated();
    final_ = windows_;
    if (subsample_)
      for (WindowAxis& axis : windows_.axes) {
        axis.output = (axis.output - 1) * axis.stride + 1;
        axis.stride = 1;
      }
    if (subsample_) windows_ = windows_of(windows_.axes);
    DRIFTSCOPE_TRY(input_, read_for_windows(lowering_, node_.inputs[0]));
    DRIFTSCOPE_CHECK(pad());
    if (group == 1) return one();
    if (w_[1] == 1 && x_.size() < 5) return depthwise();
    return groups(group);
  }

 private:
  Status pad() {
    const bool own = x_.size() < 5 && lowering_.dialect().explicit_paddings;
    if (windows_.kind != PaddingKind::given || own) return {};
    DRIFTSCOPE_TRY(input_, padded(lowering_, input_, windows_, 0.0f));
    windows_.kind = PaddingKind::valid;
    return {};
  }

  Attributes attributes() const {
    Attributes result = {{"strides", windows_.per_axis(&WindowAxis::stride)},
                         {"dilations", windows_.per_axis(&WindowAxis::dilation)},
                         {"data_format", std::string(x_.size() == 5 ? "NDHWC" : "NHWC")}};
    switch (windows_.kind) {
      case PaddingKind::valid: result["padding"] = std::string("VALID"); break;
      case PaddingKind::same: result["padding"] = std::string("SAME"); break;
      case PaddingKind::given:
        result["padding"] = std::string("EXPLICIT");
        result["explicit_paddings"] = windows_.paddings();
        break;
    }
    return result;
  }

  TensorInfo output(std::int64_t channels) const {
    return {DType::float32, window_shape(windows_, x_[0], channels), {}};
  }

  // [O, I, spatial…] → [spatial…, I, O], one spatial axis with a height; `split`: its channels for each of
  // the inputs of a depthwise convolution, which come last: [O, 1, spatial…] → [spatial…, I, O / I].
  Result<std::string> filter(bool depthwise) {
    Shape shape(w_.begin() + 2, w_.end());
    if (shape.size() == 1) shape.insert(shape.begin(), 1);
    if (depthwise)
      shape.insert(shape.end(), {x_[1], w_[0] / x_[1]});
    else
      shape.insert(shape.end(), {w_[1], w_[0]});
    // A depthwise filter with O = I·M keeps M innermost in O: transposing O behind gives the same memory.
    Order order;
    for (std::size_t axis = 2; axis < w_.size(); ++axis) order.push_back(axis);
    if (depthwise)
      order.insert(order.end(), {0, 1});
    else
      order.insert(order.end(), {1, 0});
    const Tensor* const constant = lowering_.constant(node_.inputs[1]);
    if (constant != nullptr && ordered_shape(w_, order) != shape) {
      DRIFTSCOPE_TRY(const Tensor arranged, transposed(*constant, order));
      DRIFTSCOPE_TRY(Tensor shaped, arranged.reshaped(shape));
      return lowering_.weights(node_.inputs[1], shaped);
    }
    DRIFTSCOPE_TRY(const std::string tensor, lowering_.read(node_.inputs[1], order));
    return lowering_.reshape("filter", tensor, std::move(shape));
  }

  bool has_bias() const { return Lowering::has_input(node_, 2); }

  Status one() {
    DRIFTSCOPE_TRY(const std::string weights, filter(false));
    if (x_.size() < 5) return finish("Conv2D", "_FusedConv2D", {input_, weights});
    if (!has_bias()) return finish("Conv3D", "Conv3D", {input_, weights});
    return add_bias(lowering_.make("without_bias", "Conv3D", {input_, weights}, attributes(), output(w_[0])));
  }

  Status depthwise() {
    DRIFTSCOPE_TRY(const std::string weights, filter(true));
    return finish("DepthwiseConv2dNative", "FusedDepthwiseConv2dNative", {input_, weights});
  }

  Status finish(std::string_view op, std::string_view fused, Inputs inputs) {
    Attributes made = attributes();
    if (has_bias() && lowering_.has(fused) && op != fused) {
      DRIFTSCOPE_TRY(const std::string bias, lowering_.read(node_.inputs[2]));
      inputs.push_back(bias);
      made["fused_ops"] = std::vector<std::string>{"BiasAdd"};
      made["num_args"] = std::int64_t{1};
      op = fused;
    } else if (has_bias()) {
      return add_bias(lowering_.make("without_bias", op, std::move(inputs), std::move(made), output(w_[0])));
    }
    if (!subsample_)
      return give_windows(lowering_, node_.outputs[0], op, std::move(inputs), std::move(made), windows_);
    return keep_some(lowering_.make("every_output", op, std::move(inputs), std::move(made), output(w_[0])));
  }

  Status add_bias(const std::string& sums) {
    DRIFTSCOPE_TRY(const std::string bias, lowering_.read(node_.inputs[2]));
    const std::string_view op = x_.size() < 5 ? "BiasAdd" : "AddV2";
    if (!subsample_) return give_windows(lowering_, node_.outputs[0], op, {sums, bias}, {}, windows_);
    return keep_some(lowering_.make("every_output", op, {sums, bias}, {}, output(w_[0])));
  }

  Status keep_some(const std::string& all) {
    std::vector<SliceRange> ranges = {{0, x_[0], 1}};
    for (const WindowAxis& axis : final_.axes) ranges.push_back({0, axis.output, axis.stride});
    ranges.push_back({0, w_[0], 1});
    DRIFTSCOPE_TRY(StridedSliceParts parts, strided_slice(lowering_, all, ranges));
    return give_windows(lowering_, node_.outputs[0], "StridedSlice", std::move(parts.inputs),
                        std::move(parts.attributes), final_);
  }

  // Each group's channels of the input and outputs of the filter.
  Status groups(std::int64_t group) {
    DRIFTSCOPE_TRY(const std::string weights, filter(false));
    const std::int64_t last = static_cast<std::int64_t>(lowering_.info(input_).shape.size()) - 1;
    DRIFTSCOPE_TRY(const auto inputs, split("input_group", input_, last, group));
    DRIFTSCOPE_TRY(const auto filters, split("filter_group", weights, last, group));
    Inputs parts;
    const std::string_view op = x_.size() < 5 ? "Conv2D" : "Conv3D";
    for (std::size_t g = 0; g < inputs.size(); ++g)
      parts.push_back(
          lowering_.make("group", op, {inputs[g], filters[g]}, attributes(), output(w_[0] / group)));
    DRIFTSCOPE_TRY(const std::string axis, lowering_.scalar_int(last, "axis"));
    parts.push_back(axis);
    const Attributes count = {{"N", group}};
    if (has_bias()) return add_bias(lowering_.make("groups", "ConcatV2", parts, count, output(w_[0])));
    if (subsample_) return keep_some(lowering_.make("groups", "ConcatV2", parts, count, output(w_[0])));
    return give_windows(lowering_, node_.outputs[0], "ConcatV2", parts, count, windows_);
  }

  Result<std::vector<std::string>> split(std::string_view suffix, const std::string& tensor,
                                         std::int64_t axis, std::int64_t parts) {
    TensorInfo info = lowering_.info(tensor);
    info.shape[static_cast<std::size_t>(axis)] /= parts;
    DRIFTSCOPE_TRY(const std::string at, lowering_.scalar_int(axis, "split_axis"));
    return lowering_.make_many(suffix, "Split", {at, tensor}, {{"num_split", parts}},
                               std::vector<TensorInfo>(static_cast<std::size_t>(parts), info));
  }

  Lowering& lowering_;
  const OnnxNode& node_;
  Shape x_;
  Shape w_;
  Windows windows_;
  Windows final_;
  bool strided_ = false;
  bool subsample_ = false;
  std::string input_;
};

Status lower(Lowering& lowering, const OnnxNode& node) { return Convolution(lowering, node).run(); }

}  // namespace

void add_to(OperatorTable& table) { table.add("Conv", lower, Prefers::channels_last); }

}  // namespace driftscope::tf::operators::conv
