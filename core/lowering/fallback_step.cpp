#include "core/lowering/fallback_step.hpp"

#include <fmt/format.h>

#include <optional>

namespace driftscope::lowering {
namespace {

class FallbackStep final : public Step {
 public:
  FallbackStep(const Graph& graph, const Node& node, std::unique_ptr<NodeRunner> runner,
               std::vector<BufferId> reads, std::vector<BufferId> writes)
      : node_(node), runner_(std::move(runner)), reads_(std::move(reads)), writes_(std::move(writes)) {
    for (const ValueId id : node.outputs)
      planned_.push_back(id == no_value ? Planned{}
                                        : Planned{graph.values[id].dtype, graph.values[id].static_shape()});
  }

  Status bind(const Memory& /*memory*/) override { return {}; }

  Status run(Memory& memory) override {
    std::vector<Tensor> tensors(reads_.size());
    std::vector<const Tensor*> inputs(reads_.size(), nullptr);
    for (std::size_t i = 0; i < reads_.size(); ++i) {
      if (reads_[i] == no_buffer) continue;
      DRIFTSCOPE_TRY(tensors[i], memory.tensor(reads_[i]));
      inputs[i] = &tensors[i];
    }
    DRIFTSCOPE_TRY(auto outputs, runner_->run(node_, inputs));
    if (outputs.size() != writes_.size())
      return internal_error(
          fmt::format("the fallback kernel made {} outputs of {}", outputs.size(), writes_.size()));
    for (std::size_t i = 0; i < writes_.size(); ++i) {
      if (writes_[i] == no_buffer) continue;
      // Steps after this one read as much as was planned.
      const Planned& planned = planned_[i];
      if ((planned.shape && outputs[i].shape() != *planned.shape) ||
          (planned.dtype != DType::undefined && outputs[i].dtype() != planned.dtype))
        return internal_error(fmt::format("{}: output {} is {} {}, the plan has {} {}", node_label(node_), i,
                                          dtype_name(outputs[i].dtype()), shape_text(outputs[i].shape()),
                                          dtype_name(planned.dtype),
                                          planned.shape ? shape_text(*planned.shape) : ""));
      memory.put(writes_[i], std::move(outputs[i]));
    }
    return {};
  }

 private:
  const Node& node_;
  std::unique_ptr<NodeRunner> runner_;
  std::vector<BufferId> reads_;
  std::vector<BufferId> writes_;
  struct Planned {
    DType dtype = DType::undefined;  // or it depends on the run
    std::optional<Shape> shape;      // nothing where it depends on data
  };
  std::vector<Planned> planned_;
};

}  // namespace

Result<std::unique_ptr<Step>> make_fallback_step(const Graph& graph, const Node& node, Fallback& fallback,
                                                 std::vector<BufferId> reads, std::vector<BufferId> writes) {
  DRIFTSCOPE_TRY(auto runner, fallback.prepare(graph, node));
  return std::unique_ptr<Step>(
      std::make_unique<FallbackStep>(graph, node, std::move(runner), std::move(reads), std::move(writes)));
}

}  // namespace driftscope::lowering
