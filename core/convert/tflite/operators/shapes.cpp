// Operators that give the same elements another shape or order, join or split values.
#include <fmt/format.h>

#include "core/convert/tflite/attributes.hpp"
#include "core/convert/tflite/builder.hpp"
#include "core/convert/tflite/operator_table.hpp"

namespace driftscope::tflite::operators::shapes {
namespace {

using Code = fb::BuiltinOperator;
using List = std::vector<std::int64_t>;

std::int32_t narrow(std::int64_t value) { return static_cast<std::int32_t>(value); }

// To the shape that the result is known to have: Reshape, Squeeze, ExpandDims, Identity.
Status reshape(Builder& builder, const tf::Node& node) {
  const Shape& shape = builder.info(node.name).shape;
  const Tensor* constant = builder.constant_value(node.inputs[0]);
  if (constant != nullptr && constant->shape() == shape) {
    builder.add_copy_of_constant(builder.tensor(node.inputs[0]), builder.tensor(node.name),
                                 constant->dtype());
    return {};
  }
  const std::vector<std::int32_t> dimensions(shape.begin(), shape.end());
  const TensorIndex target = builder.add_indices(node.name + "/shape", dimensions);
  const auto made = fb::CreateReshapeOptionsDirect(builder.tables(), &dimensions);
  builder.add({Code::RESHAPE,
               {builder.tensor(node.inputs[0]), target},
               {builder.tensor(node.name)},
               Builder::options(made)});
  return {};
}

template <Code code, class T>
Status with(Builder& builder, const tf::Node& node) {
  builder.add(node, code, builder.default_options<T>());
  return {};
}

// The kernel has had no version 1 as a builtin operator.
Status broadcast_to(Builder& builder, const tf::Node& node) {
  builder.add(node, Code::BROADCAST_TO, builder.default_options<fb::BroadcastToOptions>(), 2);
  return {};
}

// The only element of a constant.
Result<std::int64_t> scalar(const Builder& builder, const std::string& value) {
  const Tensor* constant = builder.constant_value(value);
  if (constant == nullptr || constant->elements() != 1)
    return unsupported(fmt::format("'{}' must be a constant of one element", value));
  if (constant->dtype() == DType::int64) return constant->values<std::int64_t>()[0];
  if (constant->dtype() == DType::int32) return constant->values<std::int32_t>()[0];
  return unsupported(fmt::format("'{}' is {}, expected int32", value, dtype_name(constant->dtype())));
}

// Values, then the axis.
Status concat(Builder& builder, const tf::Node& node) {
  DRIFTSCOPE_TRY(const std::int64_t axis, scalar(builder, node.inputs.back()));
  std::vector<std::string> values(node.inputs.begin(), node.inputs.end() - 1);
  const auto made = fb::CreateConcatenationOptions(builder.tables(), narrow(axis));
  builder.add(
      {Code::CONCATENATION, builder.tensors(values), {builder.tensor(node.name)}, Builder::options(made)});
  return {};
}

Status pack(Builder& builder, const tf::Node& node) {
  const auto made =
      fb::CreatePackOptions(builder.tables(), narrow(static_cast<std::int64_t>(node.inputs.size())),
                            narrow(attribute<std::int64_t>(node, "axis", 0)));
  builder.add(node, Code::PACK, Builder::options(made));
  return {};
}

Status unpack(Builder& builder, const tf::Node& node) {
  const auto count = static_cast<std::int64_t>(builder.outputs_of(node).size());
  const auto made = fb::CreateUnpackOptions(builder.tables(), narrow(count),
                                            narrow(attribute<std::int64_t>(node, "axis", 0)));
  builder.add(node, Code::UNPACK, Builder::options(made));
  return {};
}

Status split(Builder& builder, const tf::Node& node) {
  const auto count = static_cast<std::int64_t>(builder.outputs_of(node).size());
  builder.add(node, Code::SPLIT, Builder::options(fb::CreateSplitOptions(builder.tables(), narrow(count))));
  return {};
}

Status split_v(Builder& builder, const tf::Node& node) {
  const auto count = static_cast<std::int64_t>(builder.outputs_of(node).size());
  builder.add(node, Code::SPLIT_V,
              Builder::options(fb::CreateSplitVOptions(builder.tables(), narrow(count))));
  return {};
}

Status shape(Builder& builder, const tf::Node& node) {
  const auto type = *tensor_type(builder.info(node.name).dtype);
  builder.add(node, Code::SHAPE, Builder::options(fb::CreateShapeOptions(builder.tables(), type)));
  return {};
}

}  // namespace

void add_to(OperatorTable& table) {
  for (const char* name : {"Reshape", "Squeeze", "ExpandDims", "Identity"}) table[name] = reshape;
  table["BroadcastTo"] = broadcast_to;
  table["ConcatV2"] = concat;
  table["Fill"] = with<Code::FILL, fb::FillOptions>;
  table["Pack"] = pack;
  table["Range"] = with<Code::RANGE, fb::RangeOptions>;
  table["Rank"] = with<Code::RANK, fb::RankOptions>;
  table["Shape"] = shape;
  table["Split"] = split;
  table["SplitV"] = split_v;
  table["Tile"] = with<Code::TILE, fb::TileOptions>;
  table["Transpose"] = with<Code::TRANSPOSE, fb::TransposeOptions>;
  table["Unpack"] = unpack;
}

}  // namespace driftscope::tflite::operators::shapes
