// Conv2DBackpropInput(output shape, filter [height, width, out, in], values): TRANSPOSE_CONV, whose filter is
// [out, height, width, in]. Paddings that are neither SAME nor VALID are cut off the whole result.
#include <fmt/format.h>

#include "core/convert/tflite/attributes.hpp"
#include "core/convert/tflite/operator_table.hpp"
#include "core/convert/tflite/padding.hpp"
#include "core/convert/tflite/weights.hpp"

namespace driftscope::tflite::operators::transpose_conv {
namespace {

using Code = fb::BuiltinOperator;

std::int32_t narrow(std::int64_t value) { return static_cast<std::int32_t>(value); }

struct Parts {
  Window window;
  Pads pads;
  bool same = false;
  Shape whole;  // before the paddings are cut off
  Shape result;
};

Result<Parts> parts_of(const Builder& builder, const tf::Node& node) {
  const Shape& filter = builder.info(node.inputs[1]).shape;
  Parts parts;
  parts.result = builder.info(node.name).shape;
  if (filter.size() != 4 || parts.result.size() != 4 || node.inputs.size() < 3)
    return unsupported("a transposed convolution must have rank 4");
  DRIFTSCOPE_TRY(parts.window, window_of(node, {filter[0], filter[1]}));
  if (parts.window.dilations != std::array<std::int64_t, 2>{1, 1})
    return unsupported("TensorFlow Lite's transposed convolution has no dilations");
  DRIFTSCOPE_TRY(const auto size, image_size(builder, node.inputs[2]));
  const std::array<std::int64_t, 2> output{parts.result[1], parts.result[2]};
  DRIFTSCOPE_TRY(parts.pads, pads_of(node, parts.window, output));
  parts.same = parts.pads.any() && parts.pads == same_pads(parts.window, output);
  parts.whole = parts.result;
  if (parts.same) return parts;
  for (std::size_t i = 0; i < 2; ++i) {
    std::int64_t& whole = parts.whole[i + 1];
    whole += parts.pads.before[i] + parts.pads.after[i];
    const std::int64_t shortest = (size[i] - 1) * parts.window.strides[i] + parts.window.size[i];
    if (whole < shortest || whole >= shortest + parts.window.strides[i])
      return unsupported(fmt::format("a result of {} elements from {}, with a kernel of {} and steps of {}",
                                     output[i], size[i], parts.window.size[i], parts.window.strides[i]));
  }
  return parts;
}

Status write(Builder& builder, const tf::Node& node) {
  DRIFTSCOPE_TRY(const Parts parts, parts_of(builder, node));
  const std::array<std::size_t, 4> order{2, 0, 1, 3};
  DRIFTSCOPE_TRY(const TensorIndex weights, reordered(builder, node, node.inputs[1], order));
  const TensorIndex shape = builder.add_indices(
      node.name + "/shape", std::vector<std::int32_t>(parts.whole.begin(), parts.whole.end()));
  const bool cut = parts.whole != parts.result;
  tf::TensorInfo info = builder.info(node.name);
  info.shape = parts.whole;
  const TensorIndex whole =
      cut ? builder.add_computed(node.name + "/whole", info) : builder.tensor(node.name);
  const auto made =
      fb::CreateTransposeConvOptions(builder.tables(), parts.same ? fb::Padding::SAME : fb::Padding::VALID,
                                     narrow(parts.window.strides[1]), narrow(parts.window.strides[0]));
  std::vector<TensorIndex> inputs{shape, weights, builder.tensor(node.inputs[2])};
  if (node.inputs.size() > 3) inputs.push_back(builder.tensor(node.inputs[3]));
  builder.add({Code::TRANSPOSE_CONV, inputs, {whole}, Builder::options(made), inputs.size() > 3 ? 3 : 1});
  if (!cut) return {};
  const TensorIndex begin = builder.add_indices(
      node.name + "/begin", {0, narrow(parts.pads.before[0]), narrow(parts.pads.before[1]), 0});
  const TensorIndex size = builder.add_indices(
      node.name + "/size", std::vector<std::int32_t>(parts.result.begin(), parts.result.end()));
  builder.add({Code::SLICE,
               {whole, begin, size},
               {builder.tensor(node.name)},
               builder.default_options<fb::SliceOptions>()});
  return {};
}

}  // namespace

void add_to(OperatorTable& table) { table["Conv2DBackpropInput"] = write; }

}  // namespace driftscope::tflite::operators::transpose_conv
