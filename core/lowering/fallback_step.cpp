#include "core/lowering/fallback_step.hpp"

#include <fmt/format.h>

#include "core/eval/evaluate.hpp"
#include "core/graph/legacy.hpp"

namespace driftscope::fast {
namespace {

class StrictStep final : public Step {
 public:
  StrictStep(const Node& node, StrictResources& resources, std::unique_ptr<StrictKernel> kernel,
             std::vector<BufferId> reads, std::vector<BufferId> writes)
      : node_(node),
        resources_(resources),
        kernel_(std::move(kernel)),
        reads_(std::move(reads)),
        writes_(std::move(writes)) {}

  Status bind(const Memory& /*memory*/) override { return {}; }

  Status run(Memory& memory) override {
    std::vector<Tensor> tensors(reads_.size());
    std::vector<const Tensor*> inputs(reads_.size(), nullptr);
    for (std::size_t i = 0; i < reads_.size(); ++i) {
      if (reads_[i] == no_buffer) continue;
      DRIFTSCOPE_TRY(tensors[i], memory.tensor(reads_[i]));
      inputs[i] = &tensors[i];
    }
    auto outputs = kernel_ ? kernel_->run(inputs) : evaluate_strict(node_, inputs, resources_.threads);
    if (!outputs.ok()) return std::move(outputs).error();
    if (outputs->size() != writes_.size())
      return internal_error(
          fmt::format("the strict kernel made {} outputs of {}", outputs->size(), writes_.size()));
    for (std::size_t i = 0; i < writes_.size(); ++i)
      if (writes_[i] != no_buffer) memory.put(writes_[i], std::move((*outputs)[i]));
    return {};
  }

 private:
  const Node& node_;
  StrictResources& resources_;
  std::unique_ptr<StrictKernel> kernel_;
  std::vector<BufferId> reads_;
  std::vector<BufferId> writes_;
};

// A pass has folded constants before steps are made.
const FoldedValues nothing_folded;

}  // namespace

Result<std::unique_ptr<Step>> make_strict_step(const Graph& graph, const Node& node,
                                               StrictResources& resources, std::vector<BufferId> reads,
                                               std::vector<BufferId> writes) {
  std::unique_ptr<StrictKernel> kernel;
  const PrepareStrictKernel prepare = strict_kernels().find(node.domain, node.op_type).prepare;
  if (prepare != nullptr && node.attribute(broadcast_axis) == nullptr)
    kernel = prepare({graph, node, resources.simd, resources.threads, nothing_folded});
  return std::unique_ptr<Step>(
      std::make_unique<StrictStep>(node, resources, std::move(kernel), std::move(reads), std::move(writes)));
}

}  // namespace driftscope::fast
