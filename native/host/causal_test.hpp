// Does a wrong layer matter? The right tensor is put into the target's run in place of its own: the model is
// cut there. Client: the command explain.
#pragma once

#include "core/verify/explanation.hpp"
#include "native/host/target_runner.hpp"

namespace driftscope {

class CausalTester {
 public:
  /// `trace` is of this model, with its inputs and all values; both outlive this.
  CausalTester(const ModelFile& model, const Trace& trace, Target target, RunnerOptions options,
               ThreadPool& threads, TargetProgress progress)
      : model_(model),
        trace_(trace),
        target_(std::move(target)),
        runner_(std::move(options)),
        threads_(threads),
        progress_(std::move(progress)) {}

  /// Of a node with a wrong output. Errors: of the target; the model cannot be cut there.
  [[nodiscard]] Result<CausalTest> test(const std::string& node);

 private:
  [[nodiscard]] Status run_right();
  [[nodiscard]] Result<Tensor> answer_with(const std::string& value, const Tensor& right);

  const ModelFile& model_;
  const Trace& trace_;
  const Target target_;
  TargetRunner runner_;
  ThreadPool& threads_;
  TargetProgress progress_;
  std::optional<Tensor> right_answer_;  ///< the reference's first output
  double spread_ = 0.0;                 ///< largest error of correct float32 in it
};

}  // namespace driftscope
