// Do wrong layers matter? Right tensors are put into the target's run in place of its own: the model is cut
// there. Clients: the commands explain and compare, the window.
#pragma once

#include "core/verify/explanation.hpp"
#include "core/verify/layer_verdict.hpp"
#include "native/host/target_runner.hpp"

namespace driftscope {

class CausalTester {
 public:
  /// `trace` is of this model, with its inputs and all values; both outlive this, as `runner` does.
  CausalTester(const ModelFile& model, const Trace& trace, Target target, TargetRunner& runner,
               ThreadPool& threads, TargetProgress progress)
      : model_(model),
        trace_(trace),
        target_(std::move(target)),
        runner_(runner),
        threads_(threads),
        progress_(std::move(progress)) {}

  /// Fills `matters` of all explanations and of the whole: each wrong layer right alone, then, where none
  /// suffices, all of them. Layers at which the model cannot be cut are named in the summary. Errors: the
  /// right answer cannot be computed; the trace lacks an input.
  [[nodiscard]] Status test(Verification& verification);
  /// With the first wrong output of this node right. Errors: also that the model cannot be cut there.
  [[nodiscard]] Result<CausalTest> test(const std::string& node);

 private:
  [[nodiscard]] Status run_right();
  [[nodiscard]] bool is_right(const Tensor& answer) const;
  [[nodiscard]] Result<CausalTest> test_alone(const std::string& node);
  [[nodiscard]] Result<bool> right_with_all(const std::vector<std::string>& nodes);
  /// What the target makes of the rest of the model behind `value`; its inputs are in `trace`.
  [[nodiscard]] Result<Trace> run_behind(const Graph& cut, const std::string& value, const Tensor& right,
                                         const Trace& trace, messages::Capture capture);
  [[nodiscard]] const std::string& answer_name() const;

  const ModelFile& model_;
  const Trace& trace_;
  const Target target_;
  TargetRunner& runner_;
  ThreadPool& threads_;
  TargetProgress progress_;
  std::optional<Tensor> right_answer_;  ///< the reference's first output
  double spread_ = 0.0;                 ///< largest error of correct float32 in it
};

}  // namespace driftscope
