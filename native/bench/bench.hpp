// A whole bench: models one after the other, their targets in turns. Client: the bench command.
#pragma once

#include "native/bench/plan.hpp"
#include "native/bench/subject.hpp"

namespace driftscope {

/// Told what goes on: "resnet50: chrome/fast: measuring", and a share of 100.
using PlanProgress = std::function<void(const std::string& step, std::int64_t percent)>;

/// Rows, ratios and means. Errors are those of the request (a model that cannot be read, a target twice);
/// what a single target could not do stands in its row, and the others go on.
[[nodiscard]] Result<BenchReport> run_plan(const BenchPlan& plan, const StopCheck& stop,
                                           const PlanProgress& progress);

}  // namespace driftscope
