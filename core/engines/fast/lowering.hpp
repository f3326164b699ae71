// The lowering with XNNPACK's additions: its operators and threads, steps of them, channels last. Clients:
// engine.cpp; operators/.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/engines/fast/operator_table.hpp"
#include "core/engines/fast/reorder.hpp"
#include "core/engines/fast/winograd.hpp"
#include "core/engines/fast/xnn.hpp"
#include "core/engines/strict/fallback.hpp"
#include "core/lowering/graph_lowering.hpp"

namespace driftscope::fast {

using namespace lowering;  // operators use buffers, layouts and steps throughout

/// Sets the pointers of an XNNPACK operator.
using SetupOperator = std::function<xnn_status(xnn_operator_t, const Memory&)>;

class Lowering final : public GraphLowering {
 public:
  /// As for GraphLowering. `pool` may be null: one thread.
  Lowering(Graph& graph, std::vector<NodeId> producers, LoweringOptions options, pthreadpool_t pool,
           strict::StrictFallback& strict, WinogradChoice winograd)
      : GraphLowering(graph, std::move(producers), options, strict, Space::host),
        pool_(pool),
        strict_(strict),
        winograd_(winograd) {}

  /// The instruction set for our own kernels.
  [[nodiscard]] const SimdTarget& simd() const { return strict_.simd(); }
  [[nodiscard]] ThreadPool& threads() const { return strict_.threads(); }
  /// Threads for this many multiplications or other elementary steps: none for work that one thread finishes
  /// before another one wakes up.
  [[nodiscard]] pthreadpool_t pool_for(std::int64_t work) const;
  [[nodiscard]] WinogradChoice winograd() const { return winograd_; }
  /// That a layer is computed so; how often each tile was chosen is said in the trace.
  void count_winograd(const WinogradTile& tile) { ++winograd_tiles_[winograd_name(tile)]; }
  [[nodiscard]] const std::map<std::string, int>& winograd_tiles() const { return winograd_tiles_; }

  using GraphLowering::emit;
  /// A step of one XNNPACK operator, created and reshaped. `writes` holds its workspace as well.
  void emit(XnnOperator op, pthreadpool_t pool, std::vector<BufferId> reads, std::vector<BufferId> writes,
            SetupOperator setup, BufferId in_place = no_buffer);

 private:
  [[nodiscard]] Result<bool> lower_node(const Node& node) override;
  [[nodiscard]] Status emit_conversion(const Conversion& conversion) override;
  [[nodiscard]] Result<Tensor> arrange(const Constant& constant, Layout to) const override;
  [[nodiscard]] MemoryRules memory_rules(Space space) const override;

  pthreadpool_t pool_;
  strict::StrictFallback& strict_;
  WinogradChoice winograd_;
  std::map<std::string, int> winograd_tiles_;
};

}  // namespace driftscope::fast
