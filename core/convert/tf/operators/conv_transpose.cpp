// ConvTranspose: Conv2DBackpropInput, of one spatial axis with a height; a dilated kernel gets zeros between
// its taps; groups one by one. Elements beyond the whole result, due to output_padding or output_shape, are
// only the bias.
#include <fmt/format.h>

#include <algorithm>

#include "core/convert/tf/windows.hpp"
#include "core/ops/shared/convolution.hpp"
#include "core/ops/shared/transposed_window.hpp"

namespace driftscope::tf::operators::conv_transpose {
namespace {

// [O, I, spatial…] of [I, O, …] constants, with zeros between the taps.
Result<Tensor> with_gaps(const Tensor& w, const std::vector<TransposedAxis>& axes) {
  Shape shape = w.shape();
  for (std::size_t i = 0; i < axes.size(); ++i) shape[i + 2] = (shape[i + 2] - 1) * axes[i].dilation + 1;
  DRIFTSCOPE_TRY(Tensor result, Tensor::make(DType::float32, shape));
  const auto from = w.values<float>();
  const auto to = result.mutable_values<float>();
  for (std::size_t i = 0; i < from.size(); ++i) {
    auto rest = static_cast<std::int64_t>(i);
    std::int64_t place = 0, stride = 1;
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      const std::int64_t at = rest % w.shape()[axis];
      rest /= w.shape()[axis];
      place += at * (axis < 2 ? 1 : axes[axis - 2].dilation) * stride;
      stride *= shape[axis];
    }
    to[static_cast<std::size_t>(place)] = from[i];
  }
  return result;
}

class Transposed {
 public:
  Transposed(Lowering& lowering, const OnnxNode& node)
      : lowering_(lowering),
        node_(node),
        x_(lowering.shape(node.inputs[0])),
        w_(lowering.shape(node.inputs[1])),
        y_(lowering.shape(node.outputs[0])) {}

  Status run() {
    if (x_.size() < 3 || x_.size() > 4)
      return unsupported(fmt::format(
          "a transposed convolution over {} axes has no equivalent, only over 1 or 2", x_.size() - 2));
    DRIFTSCOPE_TRY(const std::int64_t group, read_group(node_));
    DRIFTSCOPE_TRY(axes_, place_transposed(node_, Ints(w_.begin() + 2, w_.end()), std::span(x_).subspan(2)));
    DRIFTSCOPE_TRY(const std::string filter, this->filter());
    if (axes_.size() == 1) axes_.insert(axes_.begin(), TransposedAxis{.input = 1, .output = 1});
    DRIFTSCOPE_TRY(const std::string input, read_for_windows(lowering_, node_.inputs[0]));
    std::string whole;
    if (group == 1) {
      DRIFTSCOPE_TRY(whole, one(input, filter));
    } else {
      DRIFTSCOPE_TRY(whole, groups(input, filter, group));
    }
    DRIFTSCOPE_TRY(const std::string cut, cut_out(whole));
    return finish(cut);
  }

 private:
  // [kh, kw, O, I].
  Result<std::string> filter() {
    const bool dilated =
        std::any_of(axes_.begin(), axes_.end(), [](const TransposedAxis& axis) { return axis.dilation > 1; });
    Order order = x_.size() == 4 ? Order{2, 3, 1, 0} : Order{2, 1, 0};
    std::string tensor;
    if (dilated) {
      DRIFTSCOPE_TRY(const Tensor* const w, lowering_.known(node_, 1, "W, which is dilated,"));
      DRIFTSCOPE_TRY(const Tensor spread, with_gaps(*w, axes_));
      DRIFTSCOPE_TRY(Tensor arranged, transposed(spread, order));
      DRIFTSCOPE_TRY(tensor, lowering_.weights(node_.inputs[1], arranged));
      for (TransposedAxis& axis : axes_) {
        axis.kernel = (axis.kernel - 1) * axis.dilation + 1;
        axis.dilation = 1;
      }
    } else {
      DRIFTSCOPE_TRY(tensor, lowering_.read(node_.inputs[1], order));
    }
    Shape shape = lowering_.info(tensor).shape;
    if (shape.size() == 3) shape.insert(shape.begin(), 1);
    return lowering_.reshape("filter", tensor, std::move(shape));
  }

  // Every output that an input reaches.
  Result<std::string> one(const std::string& input, const std::string& filter) {
    Shape shape = {x_[0]};
    std::vector<std::int64_t> strides = {1};
    for (const TransposedAxis& axis : axes_) {
      shape.push_back((axis.input - 1) * axis.stride + axis.kernel);
      strides.push_back(axis.stride);
    }
    shape.push_back(lowering_.info(filter).shape[2]);
    strides.push_back(1);
    DRIFTSCOPE_TRY(const std::string sizes, lowering_.ints(shape, "input_sizes"));
    return lowering_.make("whole", "Conv2DBackpropInput", {sizes, filter, input},
                          {{"strides", strides},
                           {"padding", std::string("VALID")},
                           {"dilations", std::vector<std::int64_t>{1, 1, 1, 1}},
                           {"data_format", std::string("NHWC")}},
                          {DType::float32, shape, {}});
  }

  Result<std::string> groups(const std::string& input, const std::string& filter, std::int64_t group) {
    DRIFTSCOPE_TRY(const std::string last, lowering_.scalar_int(3, "axis"));
    const auto parts_of = [&](std::string_view suffix, const std::string& tensor) {
      TensorInfo info = lowering_.info(tensor);
      info.shape[3] /= group;
      return lowering_.make_many(suffix, "Split", {last, tensor}, {{"num_split", group}},
                                 std::vector<TensorInfo>(static_cast<std::size_t>(group), info));
    };
    const auto inputs = parts_of("input_group", input);
    const auto filters = parts_of("filter_group", filter);
    Inputs parts;
    for (std::size_t g = 0; g < inputs.size(); ++g) {
      DRIFTSCOPE_TRY(std::string part, one(inputs[g], filters[g]));
      parts.push_back(std::move(part));
    }
    TensorInfo info = lowering_.info(parts[0]);
    info.shape[3] *= group;
    parts.push_back(last);
    return lowering_.make("groups", "ConcatV2", std::move(parts), {{"N", group}}, std::move(info));
  }

  // What the padding leaves of it, and zeros where it has nothing.
  Result<std::string> cut_out(const std::string& whole) {
    TensorInfo info = lowering_.info(whole);
    std::vector<std::int64_t> begin = {0}, size = {x_[0]}, pads = {0, 0};
    bool cuts = false, extends = false;
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      const TransposedAxis& axis = axes_[i];
      const std::int64_t from = std::max<std::int64_t>(axis.pad, 0);
      const std::int64_t to = std::min(info.shape[i + 1], axis.pad + axis.output);
      begin.push_back(from);
      size.push_back(std::max<std::int64_t>(to - from, 0));
      pads.push_back(std::max<std::int64_t>(-axis.pad, 0));
      pads.push_back(axis.output - size.back() - pads.back());
      cuts = cuts || size.back() != info.shape[i + 1];
      extends = extends || size.back() != axis.output;
    }
    begin.push_back(0);
    size.push_back(info.shape[3]);
    pads.insert(pads.end(), {0, 0});
    std::string tensor = whole;
    if (cuts) {
      DRIFTSCOPE_TRY(const std::string first, lowering_.ints(begin, "begin"));
      DRIFTSCOPE_TRY(const std::string sizes, lowering_.ints(size, "size"));
      info.shape = size;
      tensor = lowering_.make("cut", "Slice", {tensor, first, sizes}, {}, info);
    }
    if (!extends) return tensor;
    for (std::size_t i = 0; i < info.shape.size(); ++i) info.shape[i] += pads[2 * i] + pads[2 * i + 1];
    DRIFTSCOPE_TRY(Tensor pairs, Tensor::from_values<std::int64_t>({4, 2}, pads));
    DRIFTSCOPE_TRY(const std::string around, lowering_.constant(pairs, "paddings"));
    DRIFTSCOPE_TRY(const std::string zero, lowering_.scalar(0, DType::float32, "fill"));
    return lowering_.make("extended", "PadV2", {tensor, around, zero}, {}, info);
  }

  Status finish(const std::string& tensor) {
    const Order order = channels_last(y_.size());
    Inputs inputs = {tensor};
    if (Lowering::has_input(node_, 2)) {
      DRIFTSCOPE_TRY(std::string bias, lowering_.read(node_.inputs[2]));
      inputs.push_back(std::move(bias));
    }
    const std::string_view op = inputs.size() == 2 ? "BiasAdd" : "Identity";
    if (y_.size() == 4) return lowering_.give(node_.outputs[0], op, std::move(inputs), {}, order);
    if (inputs.size() == 1) return lowering_.give_reshaped(node_.outputs[0], tensor, order);
    const std::string sum = lowering_.make("with_bias", op, std::move(inputs), {}, lowering_.info(tensor));
    return lowering_.give_reshaped(node_.outputs[0], sum, order);
  }

  Lowering& lowering_;
  const OnnxNode& node_;
  Shape x_;
  Shape w_;
  Shape y_;
  std::vector<TransposedAxis> axes_;
};

Status lower(Lowering& lowering, const OnnxNode& node) { return Transposed(lowering, node).run(); }

}  // namespace

void add_to(OperatorTable& table) { table.add("ConvTranspose", lower, Prefers::channels_last); }

}  // namespace driftscope::tf::operators::conv_transpose
