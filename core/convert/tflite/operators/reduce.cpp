// Reductions (values, axes), and the places of extremes.
#include "core/convert/tflite/attributes.hpp"
#include "core/convert/tflite/builder.hpp"
#include "core/convert/tflite/operator_table.hpp"

namespace driftscope::tflite::operators::reduce {
namespace {

using Code = fb::BuiltinOperator;

template <Code code>
Status reduction(Builder& builder, const tf::Node& node) {
  const auto keep = attribute<bool>(node, "keep_dims", false);
  builder.add(node, code, Builder::options(fb::CreateReducerOptions(builder.tables(), keep)));
  return {};
}

Status arg_max(Builder& builder, const tf::Node& node) {
  const auto type = *tensor_type(builder.info(node.name).dtype);
  builder.add(node, Code::ARG_MAX, Builder::options(fb::CreateArgMaxOptions(builder.tables(), type)));
  return {};
}

Status arg_min(Builder& builder, const tf::Node& node) {
  const auto type = *tensor_type(builder.info(node.name).dtype);
  builder.add(node, Code::ARG_MIN, Builder::options(fb::CreateArgMinOptions(builder.tables(), type)));
  return {};
}

Status cumsum(Builder& builder, const tf::Node& node) {
  const auto made = fb::CreateCumsumOptions(builder.tables(), attribute<bool>(node, "exclusive", false),
                                            attribute<bool>(node, "reverse", false));
  builder.add(node, Code::CUMSUM, Builder::options(made));
  return {};
}

Status top_k(Builder& builder, const tf::Node& node) {
  builder.add(node, Code::TOPK_V2, builder.default_options<fb::TopKV2Options>());
  return {};
}

}  // namespace

void add_to(OperatorTable& table) {
  table["All"] = reduction<Code::REDUCE_ALL>;
  table["Any"] = reduction<Code::REDUCE_ANY>;
  table["Max"] = reduction<Code::REDUCE_MAX>;
  table["Mean"] = reduction<Code::MEAN>;
  table["Min"] = reduction<Code::REDUCE_MIN>;
  table["Prod"] = reduction<Code::REDUCE_PROD>;
  table["Sum"] = reduction<Code::SUM>;
  table["ArgMax"] = arg_max;
  table["ArgMin"] = arg_min;
  table["Cumsum"] = cumsum;
  table["TopKV2"] = top_k;
}

}  // namespace driftscope::tflite::operators::reduce
