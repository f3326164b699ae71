// Pools over height and width. Averages leave padding out, as TensorFlow's do.
#include <fmt/format.h>

#include <limits>

#include "core/convert/tflite/attributes.hpp"
#include "core/convert/tflite/operator_table.hpp"
#include "core/convert/tflite/padding.hpp"

namespace driftscope::tflite::operators::pool {
namespace {

Status write(Builder& builder, const tf::Node& node, fb::BuiltinOperator code) {
  const auto size = attribute<std::vector<std::int64_t>>(node, "ksize", {});
  if (size.size() != 4 || size[0] != 1 || size[3] != 1)
    return unsupported(fmt::format("a window of {}, it must be [1, height, width, 1]", shape_text(size)));
  DRIFTSCOPE_TRY(const Window window, window_of(node, {size[1], size[2]}));
  if (window.dilations != std::array<std::int64_t, 2>{1, 1})
    return unsupported("TensorFlow Lite's pools have no dilations");
  const float lowest = -std::numeric_limits<float>::infinity();
  DRIFTSCOPE_TRY(const Padded padded, padded_input(builder, node, window, lowest));
  if (code == fb::BuiltinOperator::AVERAGE_POOL_2D && padded.input != builder.tensor(node.inputs[0]))
    return unsupported("averages with a padding that is neither SAME nor VALID");
  const auto narrow = [](std::int64_t value) { return static_cast<std::int32_t>(value); };
  const auto made = fb::CreatePool2DOptions(builder.tables(), padded.padding, narrow(window.strides[1]),
                                            narrow(window.strides[0]), narrow(size[2]), narrow(size[1]));
  builder.add({code, {padded.input}, {builder.tensor(node.name)}, Builder::options(made)});
  return {};
}

}  // namespace

void add_to(OperatorTable& table) {
  table["MaxPool"] = [](Builder& builder, const tf::Node& node) {
    return write(builder, node, fb::BuiltinOperator::MAX_POOL_2D);
  };
  table["AvgPool"] = [](Builder& builder, const tf::Node& node) {
    return write(builder, node, fb::BuiltinOperator::AVERAGE_POOL_2D);
  };
}

}  // namespace driftscope::tflite::operators::pool
