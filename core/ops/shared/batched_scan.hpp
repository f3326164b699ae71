// Scan of opset 8, which had batches: the first axis of every input but the first is the batch, the second
// axis of scanned ones the step; the first input may give each batch its own length. A batch runs like Scan 9
// does; collected outputs are padded with zeros to the longest length.
// Client: scan.cpp.
#pragma once

#include <fmt/format.h>

#include <algorithm>

#include "core/graph/attributes.hpp"
#include "core/ops/shared/control_flow.hpp"
#include "core/ops/shared/indices.hpp"
#include "core/ops/shared/shape_rules.hpp"

namespace driftscope {

struct BatchedScanPlan {
  static constexpr std::size_t first_state = 1;  // after sequence_lens
  std::size_t states = 0;
  std::size_t scanned = 0;
  Ints directions;

  [[nodiscard]] bool is_state(std::size_t input) const { return input < first_state + states; }
};

[[nodiscard]] Result<BatchedScanPlan> read_batched_scan(const Node& node);
[[nodiscard]] Result<std::vector<TensorType>> infer_batched_scan(const InferContext& context);

/// Zeros of this type and shape.
template <class S>
[[nodiscard]] Result<Evaluated<S>> zeros_like(const Evaluated<S>& value) {
  DRIFTSCOPE_TRY(Tensor tensor, Tensor::make(value.dtype, value.shape));
  return Evaluated<S>{value.dtype, value.shape, {}, std::move(tensor)};
}

template <class S>
class BatchedScan {
 public:
  explicit BatchedScan(KernelContext<S>& context) : context_(context) {}

  Status run() {
    DRIFTSCOPE_TRY(plan_, read_batched_scan(context_.node()));
    DRIFTSCOPE_TRY(body_, context_.subgraph("body"));
    if (body_->graph().outputs.size() != context_.output_count())
      return bad_input(fmt::format("body: expected {} outputs as the node has, got {}",
                                   context_.output_count(), body_->graph().outputs.size()));
    DRIFTSCOPE_CHECK(read_inputs());
    states_.resize(plan_.states);
    steps_.resize(context_.output_count() - plan_.states);
    IterationScope iterations;
    for (std::size_t batch = 0; batch < lengths_.size(); ++batch)
      DRIFTSCOPE_CHECK(run_batch(batch, iterations));
    for (std::size_t o = 0; o < context_.output_count(); ++o) {
      if (!context_.wants_output(o)) continue;
      const Value& type = body_->graph().values[body_->graph().outputs[o]];
      if (o >= plan_.states) DRIFTSCOPE_CHECK(stack_steps(steps_[o - plan_.states], type));
      const auto& batches = o < plan_.states ? states_[o] : steps_[o - plan_.states].whole;
      DRIFTSCOPE_TRY(auto whole, stack<S>(batches, 0, type));
      DRIFTSCOPE_CHECK(context_.give_output(o, std::move(whole)));
    }
    return {};
  }

 private:
  Status read_inputs() {
    std::int64_t batches = -1;
    for (std::size_t i = plan_.first_state; i < context_.input_count(); ++i) {
      if (!context_.has_input(i)) return bad_input(fmt::format("input {}: omitted but required", i));
      const Shape& shape = context_.shape(i);
      const std::size_t axes = plan_.is_state(i) ? 1 : 2;
      if (shape.size() < axes)
        return bad_input(
            fmt::format("input {}: expected at least {} axes, got shape {}", i, axes, shape_text(shape)));
      if (batches >= 0 && shape[0] != batches)
        return bad_input(
            fmt::format("input {}: expected {} batches as the inputs before, got {}", i, batches, shape[0]));
      batches = shape[0];
      if (!plan_.is_state(i)) {
        if (longest_ >= 0 && shape[1] != longest_)
          return bad_input(
              fmt::format("input {}: expected {} steps as the inputs before, got {}", i, longest_, shape[1]));
        longest_ = shape[1];
      }
      inputs_.push_back(context_.pass_input(i));
    }
    lengths_.assign(static_cast<std::size_t>(batches), longest_);
    if (!context_.has_input(0)) return {};
    DRIFTSCOPE_CHECK(expect_certain(context_, 0, "sequence_lens"));
    const Tensor& given = context_.tensor(0);
    if (given.dtype() != DType::int64 || given.shape() != Shape{batches})
      return bad_input(
          fmt::format("input 0 (sequence_lens): expected {} numbers of int64, got {} of "
                      "shape {}",
                      batches, dtype_name(given.dtype()), shape_text(given.shape())));
    for (std::size_t batch = 0; batch < lengths_.size(); ++batch) {
      lengths_[batch] = given.values<std::int64_t>()[batch];
      if (lengths_[batch] < 0 || lengths_[batch] > longest_)
        return bad_input(
            fmt::format("input 0 (sequence_lens): expected 0 to {}, got {}", longest_, lengths_[batch]));
    }
    return {};
  }

  Status run_batch(std::size_t batch, IterationScope& iterations) {
    const auto at = static_cast<std::int64_t>(batch);
    std::vector<Evaluated<S>> whole;  // states, then all steps of the scanned inputs
    for (const Evaluated<S>& input : inputs_) {
      DRIFTSCOPE_TRY(whole.emplace_back(), slice_at(input, 0, at));
    }
    const auto scanned = std::span(whole).subspan(plan_.states);
    std::vector<Evaluated<S>> states(whole.begin(),
                                     whole.begin() + static_cast<std::ptrdiff_t>(plan_.states));
    for (Steps& steps : steps_) steps.of_batch.emplace_back();
    for (std::int64_t t = 0; t < lengths_[batch]; ++t) {
      DRIFTSCOPE_CHECK(iterations.next());
      std::vector<Evaluated<S>> inputs = std::move(states);
      for (std::size_t n = 0; n < scanned.size(); ++n) {
        const std::int64_t step = plan_.directions[n] == 1 ? lengths_[batch] - 1 - t : t;
        DRIFTSCOPE_TRY(inputs.emplace_back(), slice_at(scanned[n], 0, step));
      }
      DRIFTSCOPE_TRY(auto outputs, body_->run(std::move(inputs)));
      states.clear();
      for (std::size_t o = 0; o < outputs.size(); ++o)
        (o < plan_.states ? states : steps_[o - plan_.states].of_batch.back())
            .push_back(std::move(outputs[o]));
    }
    for (std::size_t o = 0; o < plan_.states; ++o) states_[o].push_back(std::move(states[o]));
    return {};
  }

  // The values of one output of the body: per step of each batch, then per batch as a whole.
  struct Steps {
    std::vector<std::vector<Evaluated<S>>> of_batch;
    std::vector<Evaluated<S>> whole;
  };

  Status stack_steps(Steps& steps, const Value& type) {
    const auto any = std::find_if(steps.of_batch.begin(), steps.of_batch.end(),
                                  [](const auto& batch) { return !batch.empty(); });
    if (any != steps.of_batch.end()) {
      DRIFTSCOPE_TRY(const Evaluated<S> zeros, zeros_like(any->front()));
      for (auto& batch : steps.of_batch) batch.resize(static_cast<std::size_t>(longest_), zeros);
    }
    for (const auto& batch : steps.of_batch) {
      DRIFTSCOPE_TRY(steps.whole.emplace_back(), stack<S>(batch, 0, type));
    }
    return {};
  }

  KernelContext<S>& context_;
  BatchedScanPlan plan_;
  std::unique_ptr<SubgraphRun<S>> body_;
  std::vector<Evaluated<S>> inputs_;   // without sequence_lens
  std::vector<std::int64_t> lengths_;  // of each batch
  std::int64_t longest_ = -1;
  std::vector<std::vector<Evaluated<S>>> states_;  // per state, of each batch
  std::vector<Steps> steps_;                       // per other output
};

}  // namespace driftscope
