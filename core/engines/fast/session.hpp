// Runs a plan: step after step in one arena, allocating only the tensors that it passes on.
// Client: engine.cpp.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/engines/fast/pthreadpool_on.hpp"
#include "core/engines/fast/xnn.hpp"
#include "core/engines/strict/fallback.hpp"
#include "core/lowering/plan.hpp"
#include "core/runtime/engine.hpp"

namespace driftscope::fast {

using namespace lowering;

/// Referred to by the steps of a plan: created before the lowering, and outlives the plan.
class Resources {
 public:
  Resources(SimdTarget simd, int threads) : fallback(std::move(simd), threads) {}

  /// XNNPACK's threads are those of the strict kernels.
  [[nodiscard]] Status make_pool();
  /// Null: one thread.
  [[nodiscard]] pthreadpool_t pool() const { return pool_.get(); }

  strict::StrictFallback fallback;
  std::shared_ptr<const Graph> graph;  ///< after passes

 private:
  PthreadpoolPtr pool_;
};

class FastSession final : public Session, private Memory {
 public:
  /// `node_labels`: of the plan's nodes, for messages.
  FastSession(std::unique_ptr<Resources> resources, Plan plan, std::vector<std::string> node_labels,
              RanWith ran);

  /// Allocates the arena; to be called once before the first run.
  [[nodiscard]] Status prepare();

  [[nodiscard]] Status start(std::vector<Tensor> inputs, TraceSink& trace_sink) override;
  [[nodiscard]] Result<Progress> poll(std::int64_t budget_ns) override;
  [[nodiscard]] Result<std::vector<Tensor>> finish() override;
  [[nodiscard]] RanWith ran_with() const override { return ran_; }

 private:
  [[nodiscard]] Location locate(BufferId buffer) const override;
  [[nodiscard]] Result<Tensor> tensor(BufferId buffer) const override;
  void put(BufferId buffer, Tensor tensor) override { tensors_[buffer] = std::move(tensor); }
  [[nodiscard]] Status run_node(const PlannedNode& node);
  /// The tensor for a TraceSink: deferred if the value has its own memory in an order other than ONNX's.
  [[nodiscard]] Result<Tensor> observed(ValueId value, BufferId buffer) const;

  std::unique_ptr<Resources> resources_;
  Plan plan_;
  std::vector<std::string> labels_;
  RanWith ran_;
  Tensor arena_;
  std::byte* base_ = nullptr;    // of the arena
  std::vector<Tensor> tensors_;  // by buffer: inputs and slots
  TraceSink* trace_sink_ = nullptr;
  std::size_t next_ = 0;
};

}  // namespace driftscope::fast
