#include "core/engines/strict/fallback.hpp"

#include "core/graph/legacy.hpp"

namespace driftscope::strict {
namespace {

class StrictRunner final : public NodeRunner {
 public:
  StrictRunner(std::unique_ptr<StrictKernel> kernel, ThreadPool& threads)
      : kernel_(std::move(kernel)), threads_(threads) {}

  Result<std::vector<Tensor>> run(const Node& node, std::span<const Tensor* const> inputs) override {
    return kernel_ ? kernel_->run(inputs) : evaluate_strict(node, inputs, threads_);
  }

 private:
  std::unique_ptr<StrictKernel> kernel_;
  ThreadPool& threads_;
};

const FoldedValues nothing_folded;

}  // namespace

Result<std::unique_ptr<NodeRunner>> StrictFallback::prepare(const Graph& graph, const Node& node) {
  std::unique_ptr<StrictKernel> kernel;
  const PrepareStrictKernel prepare_kernel = strict_kernels().find(node.domain, node.op_type).prepare;
  if (prepare_kernel != nullptr && node.attribute(broadcast_axis) == nullptr)
    kernel = prepare_kernel({graph, node, simd_, threads_, nothing_folded});
  return std::unique_ptr<NodeRunner>(std::make_unique<StrictRunner>(std::move(kernel), threads_));
}

}  // namespace driftscope::strict
