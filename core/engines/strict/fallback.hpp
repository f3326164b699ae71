// The strict engine's kernels for engines that do not run every node themselves. Clients: such engines.
#pragma once

#include "core/engines/strict/kernel_table.hpp"
#include "core/lowering/fallback_step.hpp"

namespace driftscope::strict {

/// Outlives what it prepares: its kernels share the threads.
class StrictFallback final : public lowering::Fallback {
 public:
  StrictFallback(SimdTarget simd, int threads) : simd_(std::move(simd)), threads_(threads) {}

  [[nodiscard]] const SimdTarget& simd() const { return simd_; }
  [[nodiscard]] ThreadPool& threads() { return threads_; }

  /// The kernel of kernels/ where there is one and it takes the node, else the scalar one. Constants of the
  /// graph have been folded before.
  [[nodiscard]] Result<std::unique_ptr<NodeRunner>> prepare(const Graph& graph, const Node& node) override;

 private:
  SimdTarget simd_;
  ThreadPool threads_;
};

}  // namespace driftscope::strict
