// Compiled for size on the web (cmake/core.cmake).
#include "core/verify/finding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace driftscope {
namespace {

std::string text_of_variant(const Finding& finding) {
  const double before = finding.number("budget_before");
  const double after = finding.number("budget_after");
  const std::string_view name = finding.word("variant");
  if (finding.family() != "algorithm")
    return fmt::format("as with {}{}{}: the largest error is then {:.2f} × the budget", name,
                       finding.word("detail").empty() ? "" : " ", finding.word("detail"), after);
  return fmt::format("as by {}: {}, {:.2f} × the algorithm's own", name,
                     before > 0.0 ? fmt::format("{:.2f} × the budget of the operator", before)
                                  : std::string("larger errors than plain sums"),
                     after);
}

}  // namespace

double Finding::number(std::string_view name) const {
  for (const auto& [key, value] : numbers)
    if (key == name) return value;
  return std::numeric_limits<double>::quiet_NaN();
}

std::string_view Finding::word(std::string_view name) const {
  for (const auto& [key, value] : words)
    if (key == name) return value;
  return {};
}

std::string index_text(std::span<const std::int64_t> index) {
  return fmt::format("[{}]", fmt::join(index, ","));
}

std::string finding_text(const Finding& finding) {
  const auto kinds = finding_table().kinds();
  const auto kind = std::ranges::find(kinds, finding.id, &FindingKind::id);
  if (kind != kinds.end()) return kind->text(finding);
  if (!finding.word("variant").empty()) return text_of_variant(finding);
  return std::string(finding.word("text"));
}

std::string findings_text(std::span<const Finding> findings) {
  std::string text;
  for (const Finding& finding : findings) {
    const std::string one = finding_text(finding);
    if (!one.empty()) text += (text.empty() ? "" : "; ") + one;
  }
  return text;
}

}  // namespace driftscope
