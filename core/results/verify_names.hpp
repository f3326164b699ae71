// What the schema of verifications (core/protocol/documents/verify.json) calls and C++ has under no name of
// its own. Client: the code generated from it.
#pragma once

#include <optional>
#include <string_view>

#include "core/verify/layer_verdict.hpp"

namespace driftscope {

[[nodiscard]] constexpr std::optional<BudgetMetric> budget_metric_named(std::string_view name) {
  for (const BudgetMetric metric : {BudgetMetric::ulp, BudgetMetric::absolute})
    if (budget_metric_name(metric) == name) return metric;
  return std::nullopt;
}

}  // namespace driftscope
