// The tolerances of the web platform tests for WebNN. Client: external_budgets.cpp.
#pragma once

#include "core/verify/external_budgets.hpp"

namespace driftscope {

[[nodiscard]] const BudgetSuite& wpt_budgets();

}  // namespace driftscope
