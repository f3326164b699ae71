// LRN, over an odd number of channels: ONNX divides alpha by it.
#include <fmt/format.h>

#include "core/convert/tf/lowering.hpp"

namespace driftscope::tf::operators::lrn {
namespace {

Status lower(Lowering& lowering, const OnnxNode& node) {
  DRIFTSCOPE_TRY(const std::int64_t size, int_attribute(node, "size", 1));
  DRIFTSCOPE_TRY(const float alpha, float_attribute(node, "alpha", 1e-4f));
  DRIFTSCOPE_TRY(const float beta, float_attribute(node, "beta", 0.75f));
  DRIFTSCOPE_TRY(const float bias, float_attribute(node, "bias", 1.0f));
  if (!lowering.has("LRN")) return unsupported(fmt::format("{} has no LRN", lowering.dialect().name));
  if (size % 2 == 0)
    return unsupported(
        fmt::format("a sum over {} channels has no equivalent, only over an odd number", size));
  if (lowering.rank(node.inputs[0]) != 4) return unsupported("only values of four axes have an equivalent");
  const Order order = channels_last(4);
  DRIFTSCOPE_TRY(const std::string x, lowering.read(node.inputs[0], order));
  const auto scaled = static_cast<float>(static_cast<double>(alpha) / static_cast<double>(size));
  return lowering.give(node.outputs[0], "LRN", {x},
                       {{"depth_radius", (size - 1) / 2}, {"bias", bias}, {"alpha", scaled}, {"beta", beta}},
                       order);
}

}  // namespace

void add_to(OperatorTable& table) { table.add("LRN", lower, Prefers::channels_last); }

}  // namespace driftscope::tf::operators::lrn
