#include "core/eval/exact_run.hpp"

#include <fmt/format.h>

#include <optional>

#include "core/eval/evaluate.hpp"

namespace driftscope {
namespace {

/// A deferred constant stays deferred: only the weights of one node are in memory at a time.
Result<Tensor> read_constant(const Value& value) {
  const Tensor& constant = *value.constant;
  if (constant.in_memory() || constant.lies_in_place()) return constant;
  DRIFTSCOPE_TRY(Tensor read, Tensor::unwritten(constant.dtype(), constant.shape(), value.name));
  constant.copy_bytes(0, read.mutable_bytes());
  return read;
}

/// By value: how many nodes read it.
std::vector<std::size_t> readers_of(const Graph& graph) {
  std::vector<std::size_t> readers(graph.values.size(), 0);
  for (const Node& node : graph.nodes)
    for (const ValueId id : node.reads())
      if (id != no_value) ++readers[id];
  return readers;
}

}  // namespace

Status run_exactly(const Graph& graph, const std::vector<Tensor>& inputs, ThreadPool& threads,
                   const std::function<Status(ValueId, const Evaluated<double>&)>& each) {
  std::vector<std::size_t> readers = readers_of(graph);
  std::vector<std::optional<Evaluated<double>>> values(graph.values.size());
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    const ValueId id = graph.inputs[i];
    if (i >= inputs.size()) return bad_input(fmt::format("input {} is not given", graph.values[id].name));
    values[id] = known<double>(inputs[i]);
    DRIFTSCOPE_CHECK(each(id, *values[id]));
  }
  for (const Node& node : graph.nodes) {
    const std::vector<ValueId> reads = node.reads();
    std::vector<Evaluated<double>> constants(reads.size());
    std::vector<const Evaluated<double>*> operands(reads.size(), nullptr);
    for (std::size_t i = 0; i < reads.size(); ++i) {
      if (reads[i] == no_value) continue;
      if (graph.values[reads[i]].constant) {
        DRIFTSCOPE_TRY(const Tensor constant, read_constant(graph.values[reads[i]]));
        constants[i] = known<double>(constant);
        operands[i] = &constants[i];
      } else if (values[reads[i]]) {
        operands[i] = &*values[reads[i]];
      } else {
        return internal_error(fmt::format("{} is read before it is made", graph.values[reads[i]].name));
      }
    }
    auto results = evaluate<double>(node, operands, threads);
    if (!results.ok()) return in_context(std::move(results).error(), node.name);
    for (std::size_t i = 0; i < node.outputs.size() && i < results->size(); ++i) {
      const ValueId id = node.outputs[i];
      if (id == no_value) continue;
      DRIFTSCOPE_CHECK(each(id, (*results)[i]));
      if (readers[id] > 0) values[id] = std::move((*results)[i]);
    }
    for (const ValueId id : reads)
      if (id != no_value && --readers[id] == 0) values[id].reset();
  }
  return {};
}

}  // namespace driftscope
