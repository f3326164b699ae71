#include <algorithm>

#include "core/graph/passes/passes.hpp"
#include "core/graph/passes/rewriter.hpp"

namespace driftscope {
namespace {

using Ints = std::vector<std::int64_t>;

const Ints* ints_of(const Node& node, std::string_view name) {
  const Attribute* attribute = node.attribute(name);
  return attribute == nullptr ? nullptr : std::get_if<Ints>(&attribute->value);
}

std::string text_of(const Node& node, std::string_view name, std::string_view fallback) {
  const Attribute* attribute = node.attribute(name);
  const auto* text = attribute == nullptr ? nullptr : std::get_if<std::string>(&attribute->value);
  return text == nullptr ? std::string(fallback) : *text;
}

// Begins and ends of all axes, where the node pads with constant zeros.
std::optional<Ints> zero_pads(const GraphRewriter& rewriter, const Node& node) {
  if (node.op_type != "Pad" || !node.domain.empty() || text_of(node, "mode", "constant") != "constant")
    return std::nullopt;
  if (node.opset < 11) {
    const Attribute* value = node.attribute("value");
    const float* fill = value == nullptr ? nullptr : std::get_if<float>(&value->value);
    const Ints* pads = ints_of(node, "pads");
    if (pads == nullptr || (fill != nullptr && *fill != 0.0f)) return std::nullopt;
    return *pads;
  }
  if (node.inputs.size() > 3 && node.inputs[3] != no_value) return std::nullopt;  // axes
  if (node.inputs.size() > 2 && node.inputs[2] != no_value) {
    const Tensor* fill = rewriter.float_constant(node.inputs[2]);
    if (fill == nullptr || fill->elements() != 1 || fill->values<float>()[0] != 0.0f) return std::nullopt;
  }
  const auto& pads = rewriter.graph().values[node.inputs[1]].constant;
  if (!pads || pads->dtype() != DType::int64) return std::nullopt;
  const auto values = pads->values<std::int64_t>();
  return Ints(values.begin(), values.end());
}

void fold_pad(GraphRewriter& rewriter, NodeId id) {
  const Node& pad = rewriter.node(id);
  const auto pads = zero_pads(rewriter, pad);
  const auto next = pads ? rewriter.only_reader(pad.outputs[0]) : std::nullopt;
  if (!next) return;
  const Node& reader = rewriter.node(*next);
  const bool pool = reader.op_type == "AveragePool";
  if (!reader.domain.empty() || (reader.op_type != "Conv" && !pool) || reader.inputs[0] != pad.outputs[0])
    return;
  const std::size_t rank = pads->size() / 2;
  const std::size_t spatial = rank - 2;
  if (rank < 3 ||
      std::any_of(
          pads->begin(), pads->end(), [](std::int64_t n) { return n < 0; }) ||
      (*pads)[0] != 0 || (*pads)[1] != 0 || (*pads)[rank] != 0 || (*pads)[rank + 1] != 0)
    return;
  const Ints* own = ints_of(reader, "pads");
  Ints sum(2 * spatial, 0);
  const std::string automatic = text_of(reader, "auto_pad", "NOTSET");
  if (automatic != "NOTSET" && automatic != "VALID") return;
  if (own != nullptr && automatic == "NOTSET") {
    if (own->size() != sum.size()) return;
    sum = *own;
  }
  // A pool then counts the zeros of Pad: they must not mix with its own padding that it does not count, nor
  // change where ceil_mode ends.
  if (pool) {
    const Attribute* count = reader.attribute("count_include_pad");
    const auto* counts = count == nullptr ? nullptr : std::get_if<std::int64_t>(&count->value);
    const bool padded = std::any_of(sum.begin(), sum.end(), [](std::int64_t n) { return n != 0; });
    const Attribute* ceil = reader.attribute("ceil_mode");
    const auto* ceils = ceil == nullptr ? nullptr : std::get_if<std::int64_t>(&ceil->value);
    if ((padded && (counts == nullptr || *counts == 0)) || (ceils != nullptr && *ceils != 0) ||
        reader.opset < 7)
      return;
  }
  for (std::size_t i = 0; i < spatial; ++i) {
    sum[i] += (*pads)[2 + i];
    sum[spatial + i] += (*pads)[rank + 2 + i];
  }
  rewriter.set_input(*next, 0, pad.inputs[0]);
  rewriter.set_attribute(*next, {"pads", sum});
  rewriter.set_attribute(*next, {"auto_pad", std::string("NOTSET")});
  if (pool) rewriter.set_attribute(*next, {"count_include_pad", std::int64_t{1}});
  rewriter.remove(id);
}

}  // namespace

Graph fold_pads(Graph graph) {
  GraphRewriter rewriter(std::move(graph));
  for (NodeId id = 0; id < rewriter.node_count(); ++id) fold_pad(rewriter, id);
  return rewriter.take();
}

}  // namespace driftscope
