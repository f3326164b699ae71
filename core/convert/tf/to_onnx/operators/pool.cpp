// Pools over the axes between batch and channels. Averages leave padding out, as ONNX's do by default.
#include <fmt/format.h>

#include "core/base/text.hpp"
#include "core/convert/tf/to_onnx/maker.hpp"

namespace driftscope::tf::to_onnx_operators::pool {
namespace {

using namespace to_onnx_parts;

Status pool(Maker& maker, const Node& node) {
  const std::size_t rank = node.op.ends_with("3D") ? 5 : 4;
  const auto inner = [&](std::string_view name) -> Result<Numbers> {
    const auto given = attribute<Numbers>(node, name, {});
    if (given.size() != rank || given.front() != 1 || given.back() != 1)
      return unsupported(fmt::format("{}: [{}]; expected {} numbers with 1 for batch and channels", name,
                                     fmt::join(given, ", "), rank));
    for (const std::int64_t one : given)
      if (one < 1)
        return bad_input(fmt::format("{}: [{}]; expected 1 and more", name, fmt::join(given, ", ")));
    return Numbers(given.begin() + 1, given.end() - 1);
  };
  if (attribute<std::string>(node, "data_format", "NHWC").starts_with("NC"))
    return unsupported("data_format with channels first is not supported");
  const auto padding = attribute<std::string>(node, "padding", "VALID");
  if (padding != "SAME" && padding != "VALID")
    return unsupported(fmt::format("padding {}; expected SAME or VALID", in_quotes(padding)));
  DRIFTSCOPE_TRY(Numbers kernel, inner("ksize"));
  DRIFTSCOPE_TRY(Numbers strides, inner("strides"));
  DRIFTSCOPE_TRY(const std::string x, maker.input(node, 0));
  OnnxAttributes attributes = {of("kernel_shape", std::move(kernel)), of("strides", std::move(strides))};
  if (padding == "SAME") attributes.push_back(of("auto_pad", std::string("SAME_UPPER")));
  const std::string op = node.op.starts_with("Max") ? "MaxPool" : "AveragePool";
  const std::string result = maker.make("pooled", op, {maker.channels_first(x, rank)}, std::move(attributes));
  maker.give_channels_last(result, rank);
  return {};
}

}  // namespace

void add_to(to_onnx_parts::RuleTable& table) {
  for (const std::string_view op : {"MaxPool", "AvgPool", "MaxPool3D", "AvgPool3D"}) table.add(op, pool);
}

}  // namespace driftscope::tf::to_onnx_operators::pool
