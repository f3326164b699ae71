#include "core/convert/tflite/padding.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/convert/tflite/attributes.hpp"

namespace driftscope::tflite {
namespace {

using List = std::vector<std::int64_t>;

// The middle of [1, h, w, 1].
Result<std::array<std::int64_t, 2>> inner_pair(const tf::Node& node, std::string_view name) {
  const List* list = find_attribute<List>(node, name);
  if (list == nullptr) return std::array<std::int64_t, 2>{1, 1};
  const List& values = *list;
  if (values.size() != 4 || values[0] != 1 || values[3] != 1 || values[1] < 1 || values[2] < 1)
    return unsupported(
        fmt::format("'{}' is [{}], it must be [1, height, width, 1]", name, shape_text(values)));
  return std::array<std::int64_t, 2>{values[1], values[2]};
}

}  // namespace

Result<Window> window_of(const tf::Node& node, std::array<std::int64_t, 2> size) {
  Window window{.size = size};
  DRIFTSCOPE_TRY(window.strides, inner_pair(node, "strides"));
  DRIFTSCOPE_TRY(window.dilations, inner_pair(node, "dilations"));
  return window;
}

std::array<std::int64_t, 2> extent(const Window& window) {
  return {(window.size[0] - 1) * window.dilations[0] + 1, (window.size[1] - 1) * window.dilations[1] + 1};
}

Pads same_pads(const Window& window, std::array<std::int64_t, 2> input) {
  Pads pads;
  for (std::size_t i = 0; i < 2; ++i) {
    const std::int64_t outputs = (input[i] + window.strides[i] - 1) / window.strides[i];
    const std::int64_t total =
        std::max<std::int64_t>((outputs - 1) * window.strides[i] + extent(window)[i] - input[i], 0);
    pads.before[i] = total / 2;
    pads.after[i] = total - total / 2;
  }
  return pads;
}

Result<Pads> pads_of(const tf::Node& node, const Window& window, std::array<std::int64_t, 2> input) {
  const auto padding = attribute<std::string>(node, "padding", "VALID");
  if (padding == "VALID") return Pads{};
  if (padding == "SAME") return same_pads(window, input);
  const List* list = find_attribute<List>(node, "explicit_paddings");
  if (padding != "EXPLICIT" || list == nullptr || list->size() != 8 || (*list)[0] != 0 || (*list)[1] != 0 ||
      (*list)[6] != 0 || (*list)[7] != 0 ||
      std::any_of(list->begin(), list->end(), [](auto n) { return n < 0; }))
    return unsupported(fmt::format("the padding '{}' is not of height and width", padding));
  const List& pads = *list;
  return Pads{{pads[2], pads[4]}, {pads[3], pads[5]}};
}

Result<std::array<std::int64_t, 2>> image_size(const Builder& builder, const std::string& value) {
  const Shape& shape = builder.info(value).shape;
  if (shape.size() != 4)
    return unsupported(fmt::format("'{}' has the shape {}, it must have rank 4", value, shape_text(shape)));
  return std::array<std::int64_t, 2>{shape[1], shape[2]};
}

Result<Padded> padded_input(Builder& builder, const tf::Node& node, const Window& window, float fill) {
  const std::string& value = node.inputs[0];
  DRIFTSCOPE_TRY(const auto size, image_size(builder, value));
  DRIFTSCOPE_TRY(const Pads pads, pads_of(node, window, size));
  const TensorIndex input = builder.tensor(value);
  if (!pads.any()) return Padded{input, fb::Padding::VALID};
  if (pads == same_pads(window, size)) return Padded{input, fb::Padding::SAME};
  tf::TensorInfo info = builder.info(value);
  std::vector<std::int32_t> amounts(8, 0);
  for (std::size_t i = 0; i < 2; ++i) {
    amounts[2 + 2 * i] = static_cast<std::int32_t>(pads.before[i]);
    amounts[3 + 2 * i] = static_cast<std::int32_t>(pads.after[i]);
    info.shape[1 + i] += pads.before[i] + pads.after[i];
  }
  DRIFTSCOPE_TRY(const Tensor table, Tensor::from_values<std::int32_t>({4, 2}, amounts));
  const TensorIndex amount = builder.add_constant(node.name + "/paddings", table);
  const TensorIndex padded = builder.add_computed(node.name + "/padded", info);
  if (fill == 0.0F) {  // a quantized tensor is filled with its zero point
    builder.add(
        {fb::BuiltinOperator::PAD, {input, amount}, {padded}, builder.default_options<fb::PadOptions>()});
    return Padded{padded, fb::Padding::VALID};
  }
  if (info.dtype != DType::float32)
    return unsupported(fmt::format("this padding of {} values", dtype_name(info.dtype)));
  const std::array<float, 1> filling{fill};
  DRIFTSCOPE_TRY(const Tensor scalar, Tensor::from_values<float>({}, filling));
  const TensorIndex filler = builder.add_constant(node.name + "/padding", scalar);
  builder.add({fb::BuiltinOperator::PADV2,
               {input, amount, filler},
               {padded},
               builder.default_options<fb::PadV2Options>()});
  return Padded{padded, fb::Padding::VALID};
}

}  // namespace driftscope::tflite
