// The request of a bench, and the resulting rows: every target with every number of threads,
// every batch, every capture mode. Client: the bench command.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/bench/bench_report.hpp"
#include "core/runtime/target.hpp"
#include "native/bench/other_build.hpp"
#include "native/host/inputs.hpp"
#include "native/host/target_runner.hpp"

namespace driftscope {

struct BenchPlan {
  std::vector<std::string> models;
  std::vector<Target> targets;
  std::vector<std::string> bases;     ///< as in `targets`; empty: the first target
  std::vector<std::string> inputs;    ///< as --input
  std::vector<std::int64_t> batches;  ///< empty: as the input has it
  std::vector<int> threads;           ///< empty: as the target says
  std::vector<std::string> captures = {"none"};
  BenchLimits limits;
  RunnerOptions runner;
  /// The reference that the others are judged against: one of `targets`, or another build, in which every
  /// target is measured as well. Empty: nothing is judged.
  std::string against;
  std::optional<OtherBuild> other_build;
  int launches = 1;  ///< how often every target is started; the time of `limits` is shared among them
};

/// One planned row, and the target that runs it.
struct PlannedRow {
  BenchRow row;
  Target target;
  const OtherBuild* build = nullptr;  ///< of the plan; null: ours
};

/// Rows of one model; a target that names its own threads keeps them. Errors: a target twice.
[[nodiscard]] Result<std::vector<PlannedRow>> plan_rows(const BenchPlan& plan, const ModelFile& model);

/// The inputs of every batch: seeded, or the user's. Errors: the model's inputs have a fixed
/// leading dimension, or --input and --batch come together.
[[nodiscard]] Result<GivenInputs> inputs_for_batch(const BenchPlan& plan, const ModelFile& model,
                                                   std::int64_t batch);

}  // namespace driftscope
