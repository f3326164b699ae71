// Runs excerpts of a model on one target, one after the other, and judges them. Clients: repro_run, the
// command reduce.
#pragma once

#include "core/repro/excerpt.hpp"
#include "native/host/target_runner.hpp"

namespace driftscope {

class ExcerptRunner {
 public:
  ExcerptRunner(Target target, RunnerOptions options, ThreadPool& threads, TargetProgress progress)
      : target_(std::move(target)),
        runner_(std::move(options)),
        threads_(threads),
        progress_(std::move(progress)) {}

  /// The output becomes what was recorded; the verdict keeps the name of the node in the user's model. Errors
  /// of the target; the excerpt cannot be written as a model.
  [[nodiscard]] Result<LayerVerdict> run(Excerpt& excerpt);
  /// What ran last: target, engine, browser; no tensors.
  [[nodiscard]] const Trace& about() const { return about_; }

 private:
  Target target_;
  TargetRunner runner_;
  ThreadPool& threads_;
  TargetProgress progress_;
  Trace about_;
};

}  // namespace driftscope
