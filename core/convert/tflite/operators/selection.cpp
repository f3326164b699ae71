// Operators that pick elements by place, or put them there.
#include <fmt/format.h>

#include "core/convert/tflite/attributes.hpp"
#include "core/convert/tflite/builder.hpp"
#include "core/convert/tflite/operator_table.hpp"

namespace driftscope::tflite::operators::selection {
namespace {

using Code = fb::BuiltinOperator;

template <Code code, class T>
Status with(Builder& builder, const tf::Node& node) {
  builder.add(node, code, builder.default_options<T>());
  return {};
}

std::int32_t integer(const tf::Node& node, std::string_view name, std::int64_t otherwise) {
  return static_cast<std::int32_t>(attribute<std::int64_t>(node, name, otherwise));
}

Status strided_slice(Builder& builder, const tf::Node& node) {
  const auto made =
      fb::CreateStridedSliceOptions(builder.tables(), integer(node, "begin_mask", 0),
                                    integer(node, "end_mask", 0), integer(node, "ellipsis_mask", 0),
                                    integer(node, "new_axis_mask", 0), integer(node, "shrink_axis_mask", 0));
  builder.add(node, Code::STRIDED_SLICE, Builder::options(made));
  return {};
}

// Values, indices, and, as a constant, the axis.
Status gather(Builder& builder, const tf::Node& node) {
  std::int32_t axis = 0;
  if (node.inputs.size() > 2) {
    const Tensor* constant = builder.constant_value(node.inputs[2]);
    if (constant == nullptr || constant->elements() != 1 ||
        (constant->dtype() != DType::int32 && constant->dtype() != DType::int64))
      return unsupported(fmt::format("the axis '{}' must be a constant of one integer", node.inputs[2]));
    axis = constant->dtype() == DType::int32 ? constant->values<std::int32_t>()[0]
                                             : static_cast<std::int32_t>(constant->values<std::int64_t>()[0]);
  }
  const auto made = fb::CreateGatherOptions(builder.tables(), axis, integer(node, "batch_dims", 0));
  builder.add({Code::GATHER,
               {builder.tensor(node.inputs[0]), builder.tensor(node.inputs[1])},
               {builder.tensor(node.name)},
               Builder::options(made)});
  return {};
}

Status one_hot(Builder& builder, const tf::Node& node) {
  const auto made = fb::CreateOneHotOptions(builder.tables(), integer(node, "axis", -1));
  builder.add(node, Code::ONE_HOT, Builder::options(made));
  return {};
}

Status reverse_sequence(Builder& builder, const tf::Node& node) {
  const auto made = fb::CreateReverseSequenceOptions(builder.tables(), integer(node, "seq_dim", 0),
                                                     integer(node, "batch_dim", 0));
  builder.add(node, Code::REVERSE_SEQUENCE, Builder::options(made));
  return {};
}

}  // namespace

void add_to(OperatorTable& table) {
  table["GatherNd"] = with<Code::GATHER_ND, fb::GatherNdOptions>;
  table["GatherV2"] = gather;
  table["OneHot"] = one_hot;
  table["ReverseSequence"] = reverse_sequence;
  table["ReverseV2"] = with<Code::REVERSE_V2, fb::ReverseV2Options>;
  table["ScatterNd"] = with<Code::SCATTER_ND, fb::ScatterNdOptions>;
  table["Slice"] = with<Code::SLICE, fb::SliceOptions>;
  table["StridedSlice"] = strided_slice;
  table["Where"] = with<Code::WHERE, fb::WhereOptions>;
}

}  // namespace driftscope::tflite::operators::selection
