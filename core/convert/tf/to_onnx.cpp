#include "core/convert/tf/to_onnx.hpp"

#include <fmt/format.h>

#include "core/base/text.hpp"
#include "core/convert/tf/to_onnx/maker.hpp"

namespace driftscope::tf {

namespace {

constexpr std::size_t max_nodes = 250'000;  // a few bytes of an Unpack make tens of thousands

}  // namespace

Status to_onnx_parts::make_nodes(Maker& maker, const TfGraph& graph) {
  for (const Node& node : graph.nodes) {
    const Rule* const rule = to_onnx_rules().find(node.op);
    const auto failed = [&](Error error) {
      return in_context(std::move(error), fmt::format("node {} ({})", in_quotes(node.name), node.op));
    };
    if (rule == nullptr) return failed(unsupported("this TensorFlow operator is not supported"));
    maker.begin(node);
    if (auto status = rule->convert(maker, node); !status.ok()) return failed(std::move(status).error());
    if (maker.node_count() > max_nodes)
      return failed(limit_error(fmt::format("the model has grown to more than {} nodes", max_nodes)));
  }
  return {};
}

Result<Model> to_onnx(const TfGraph& graph) {
  to_onnx_parts::Maker maker(graph);
  DRIFTSCOPE_CHECK(make_nodes(maker, graph));
  return maker.take();
}

}  // namespace driftscope::tf
