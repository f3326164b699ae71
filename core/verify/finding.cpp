#include "core/verify/finding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "core/verify/judge.hpp"
#include "core/verify/variant.hpp"

namespace driftscope {
namespace {

std::optional<std::string> text_of_judge(const Finding& finding) {
  const auto kinds = judge_table().kinds();
  const auto kind = std::ranges::find(kinds, finding.id, &FindingKind::id);
  if (kind == kinds.end()) return std::nullopt;
  return kind->text(finding);
}

std::optional<std::string> text_of_variant(const Finding& finding) {
  for (const Variant& variant : variant_table().all()) {
    if (finding.family() != variant.family || finding.name() != variant.id) continue;
    const double before = finding.number("budget_before");
    const double after = finding.number("budget_after");
    if (variant.kind == VariantKind::faulty)
      return fmt::format("as with {}: the largest error is then {:.2f} × the budget", variant.name, after);
    return fmt::format("as by {}: {}, {:.2f} × the algorithm's own", variant.name,
                       before > 0.0 ? fmt::format("{:.2f} × the budget of the operator", before)
                                    : std::string("larger errors than plain sums"),
                       after);
  }
  return std::nullopt;
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
  if (auto text = text_of_judge(finding)) return *std::move(text);
  if (auto text = text_of_variant(finding)) return *std::move(text);
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
