// A failing node with one of its sizes or attributes varied: for which it is right, and for which wrong. The
// table that makers of runtimes find the cause with. Clients: report files, the command repro.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/repro/reduce.hpp"

namespace driftscope {

struct ParameterRow {
  std::int64_t value = 0;
  bool wrong = false;
  std::int64_t wrong_elements = 0;
  std::int64_t elements = 0;
  double largest_error = 0.0;  ///< absolute; infinite where one of the two is not a number
};

/// One parameter; the others as in the report.
struct ParameterTable {
  std::string parameter;                    ///< "input channels", "strides"
  std::int64_t own = 0;                     ///< its value in the report
  std::vector<ParameterRow> rows = {};      ///< by value
  std::vector<std::string> no_effect = {};  ///< parameters of which every value tried was wrong
  std::int64_t runs = 0;

  /// Whether some values are right: every report has a wrong one.
  [[nodiscard]] bool separates() const;
};

/// "wrong for 6, 10 and 14 input channels, right for 4, 8 and 12"; a sentence without a full stop.
[[nodiscard]] std::string parameter_text(const ParameterTable& table);

struct VaryOptions {
  std::int64_t most_runs = 20;
  /// What is tried now; false: enough.
  std::function<bool(const std::string& text, std::int64_t runs)> go_on = {};
};

/// Sizes grow by repeated values. The parameter whose values tell right from wrong; where none does,
/// the first
/// one. Nothing where no other value can be tried. What the reference or the target refuses is left out.
/// Errors of the target. `excerpt` fails and has its expected result.
[[nodiscard]] Result<std::optional<ParameterTable>> vary_parameters(const Excerpt& excerpt,
                                                                    const RunExcerpt& run,
                                                                    const VaryOptions& options,
                                                                    ThreadPool& threads);

}  // namespace driftscope
