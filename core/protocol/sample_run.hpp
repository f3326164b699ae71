// One prepared session, many samples: each is sliced from the stacked inputs, run, and its outputs
// are stacked again. Client: run.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/runtime/bind_inputs.hpp"
#include "core/runtime/engine.hpp"

namespace driftscope {

/// The inputs of one sample: index `sample` of the leading axis, which is removed.
[[nodiscard]] Result<NamedInputs> slice_sample(const NamedInputs& stacked, std::int64_t sample);

class SampleRun final : private TraceSink {
 public:
  /// `stacked` by name; the session was prepared for the shapes of one sample.
  SampleRun(std::shared_ptr<const Graph> graph, Session& session, NamedInputs stacked, std::int64_t samples);

  /// Runs until the budget is used up. Progress in nodes of the current sample.
  [[nodiscard]] Result<Progress> poll(std::int64_t budget_ns);
  [[nodiscard]] std::int64_t finished_samples() const { return sample_; }
  /// Outputs with the leading axis; to be called once all samples are finished.
  [[nodiscard]] std::vector<NamedTensor> take_outputs() { return std::move(outputs_); }
  /// Per node, one time per sample.
  [[nodiscard]] const std::vector<std::vector<std::int64_t>>& times() const { return times_; }

 private:
  [[nodiscard]] bool wants(ValueId) const override { return false; }
  Status value(ValueId, const Tensor&) override { return {}; }
  void node_done(NodeId node, std::int64_t time_ns) override { times_[node].push_back(time_ns); }
  [[nodiscard]] Status start_sample();
  [[nodiscard]] Status end_sample();

  std::shared_ptr<const Graph> graph_;
  Session& session_;
  NamedInputs stacked_;
  std::int64_t samples_;
  std::int64_t sample_ = 0;
  bool running_ = false;
  std::vector<NamedTensor> outputs_;
  std::vector<std::vector<std::int64_t>> times_;
};

}  // namespace driftscope
