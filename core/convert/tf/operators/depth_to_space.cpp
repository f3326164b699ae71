// DepthToSpace: TensorFlow's with mode DCR; CRD chooses elements.
#include "core/convert/tf/selection.hpp"

namespace driftscope::tf::operators::depth_to_space {
namespace {

Status lower(Lowering& lowering, const OnnxNode& node) {
  DRIFTSCOPE_TRY(const std::string mode, string_attribute(node, "mode", "DCR"));
  DRIFTSCOPE_TRY(const std::int64_t block, int_attribute(node, "blocksize", 1));
  if (mode != "DCR" || block < 2 || lowering.dtype(node.inputs[0]) != DType::float32)
    return give_selection(lowering, node);
  const Order order = channels_last(4);
  DRIFTSCOPE_TRY(const std::string x, lowering.read(node.inputs[0], order));
  return lowering.give(node.outputs[0], "DepthToSpace", {x},
                       {{"block_size", block}, {"data_format", std::string("NHWC")}}, order);
}

}  // namespace

void add_to(OperatorTable& table) { table.add("DepthToSpace", lower, Prefers::channels_last); }

}  // namespace driftscope::tf::operators::depth_to_space
