// The strict engine's kernels for engines that do not support every node themselves. Clients: such engines.
#pragma once

#include "core/engines/strict/kernel_table.hpp"
#include "core/lowering/fallback_step.hpp"

namespace driftscope::strict {

/// Must outlive the kernels that it prepares: they share the threads.
class StrictFallback final : public lowering::Fallback {
 public:
  StrictFallback(SimdTarget simd, int threads) : simd_(std::move(simd)), threads_(threads) {}

  [[nodiscard]] const SimdTarget& simd() const { return simd_; }
  [[nodiscard]] ThreadPool& threads() { return threads_; }

  /// The kernel of kernels/ if there is one that supports the node, else the scalar one. Constants of the
  /// graph have been folded before.
  [[nodiscard]] Result<std::unique_ptr<NodeRunner>> prepare(const Graph& graph, const Node& node) override;

 private:
  SimdTarget simd_;
  ThreadPool threads_;
};

}  // namespace driftscope::strict
