// A whole bench: models one after the other, their targets in turns. Client: the bench command.
#pragma once

#include "native/bench/plan.hpp"
#include "native/bench/subject.hpp"

namespace driftscope {

/// Called with the current step, "resnet50: chrome/fast: measuring", and a percentage.
using PlanProgress = std::function<void(const std::string& step, std::int64_t percent)>;

/// Rows, ratios and means. Errors are those of the request (a model that cannot be read, a target twice);
/// failures of a single target are in its row, and the others go on.
[[nodiscard]] Result<BenchReport> run_plan(const BenchPlan& plan, const StopCheck& stop,
                                           const PlanProgress& progress);

}  // namespace driftscope
