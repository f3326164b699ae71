// Error budgets that a third party set by hand, such as a test suite: shown beside our verdict, to
// distinguish too strict a tolerance from a bug. They change no verdict. One file per suite
// (wpt_budgets.cpp), one line in the list of external_budgets.cpp. Clients: the command line; report and
// results show what was found.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "core/graph/graph.hpp"
#include "core/trace/trace_view.hpp"
#include "core/verify/verify.hpp"

namespace driftscope {

/// One output of a node, as a suite's rule sees it.
struct BudgetCase {
  const Node& node;
  DType dtype;  ///< of the output
  /// Its shape; nothing where it is neither recorded nor fixed by the model.
  std::optional<Shape> output;
  /// The shape of an input, or nothing.
  std::function<std::optional<Shape>(std::size_t input)> input;
};

struct BudgetRule {
  std::string name;  ///< of the operator, in the suite's words
  BudgetMetric metric = BudgetMetric::ulp;
  double value = 0.0;
};

struct BudgetSuite {
  std::string_view name;   ///< as given to --budgets
  std::string_view title;  ///< in sentences
  std::string_view source;
  /// Nothing where the suite has no budget for the operator, or it depends on a shape that is not known.
  std::optional<BudgetRule> (*rule)(const BudgetCase&);
};

[[nodiscard]] std::span<const BudgetSuite* const> budget_suites();

/// The error lists those that there are.
[[nodiscard]] Result<const BudgetSuite*> find_budget_suite(std::string_view name);

/// Sets LayerVerdict::external of every layer that the suite has a budget for, and Verification::budgets.
/// The budget of nodes that were verified together is the sum of theirs, if all are in ULP, as in the suite's
/// tests of whole graphs.
void apply_budgets(Verification& verification, const BudgetSuite& suite, const Graph& graph,
                   const TraceView& trace);

}  // namespace driftscope
