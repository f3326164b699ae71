#include "core/engines/strict/fallback.hpp"

#include "core/engines/strict/prepared_inputs.hpp"
#include "core/engines/strict/prepared_nodes.hpp"

namespace driftscope::strict {
namespace {

class StrictRunner final : public NodeRunner {
 public:
  StrictRunner(std::unique_ptr<StrictKernel> kernel, PreparedInputs expected, ThreadPool& threads)
      : kernel_(std::move(kernel)), expected_(std::move(expected)), threads_(threads) {}

  Result<std::vector<Tensor>> run(const Node& node, std::span<const Tensor* const> inputs) override {
    const auto scalar = [&] { return evaluate_strict(node, inputs, threads_); };
    return kernel_ ? run_prepared(*kernel_, expected_, node, inputs, scalar) : scalar();
  }

 private:
  std::unique_ptr<StrictKernel> kernel_;
  PreparedInputs expected_;
  ThreadPool& threads_;
};

// If, Loop or Scan: the nodes inside have kernels of their own.
class ControlFlowRunner final : public NodeRunner {
 public:
  ControlFlowRunner(const SimdTarget& simd, ThreadPool& threads)
      : inside_(simd, threads), threads_(threads) {}

  [[nodiscard]] Status prepare(const Node& node) { return inside_.prepare_inside(node); }

  Result<std::vector<Tensor>> run(const Node& node, std::span<const Tensor* const> inputs) override {
    return evaluate_strict(node, inputs, threads_, &inside_);
  }

 private:
  PreparedNodes inside_;
  ThreadPool& threads_;
};

const FoldedValues nothing_folded;

}  // namespace

Result<std::unique_ptr<NodeRunner>> StrictFallback::prepare(const Graph& graph, const Node& node) {
  if (!node.subgraphs.empty()) {
    auto runner = std::make_unique<ControlFlowRunner>(simd_, threads_);
    DRIFTSCOPE_CHECK(runner->prepare(node));
    return std::unique_ptr<NodeRunner>(std::move(runner));
  }
  const StrictSite site{graph, node, simd_, threads_, nothing_folded};
  return std::unique_ptr<NodeRunner>(
      std::make_unique<StrictRunner>(prepare_kernel(site), PreparedInputs(site), threads_));
}

}  // namespace driftscope::strict
