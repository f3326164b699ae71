// The verdicts: what each is called, how grave it is, and what it means for a run. Clients: whatever judges,
// counts or shows layers. A new one is a row here, its colour (core/draw/theme.cpp) and symbol
// (core/draw/verdict_mark.cpp), and the judge that gives it.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace driftscope {

/// unjudged: within an inconclusive budget (judgeable.hpp) or without a reference, so never a pass; missing:
/// there was nothing to compare.
enum class Verdict { identical, rounding, unjudged, suspect, fault, missing };

/// What a verdict says of the computation.
enum class Concern {
  none,
  open,      ///< it may be wrong, and nothing tells
  possible,  ///< rounding hardly explains it
  certain,   ///< rounding does not explain it
};

struct VerdictRow {
  Verdict verdict;
  std::string_view name;  ///< in documents and on the command line
  std::string_view mark;  ///< one character that stands before the name
  int severity = 0;       ///< the worst layer's is the run's; −1: does not count
  Concern concern = Concern::none;
};

/// In the order of the values.
inline constexpr std::array<VerdictRow, 6> verdict_rows = {{
    {Verdict::identical, "identical", "=", 0, Concern::none},
    {Verdict::rounding, "rounding", "~", 1, Concern::none},
    {Verdict::unjudged, "unjudged", "○", 2, Concern::open},
    {Verdict::suspect, "suspect", "?", 3, Concern::possible},
    {Verdict::fault, "fault", "✗", 4, Concern::certain},
    {Verdict::missing, "missing", "·", -1, Concern::none},
}};

namespace verdict_rows_are {
consteval bool in_order() {
  for (std::size_t i = 0; i < verdict_rows.size(); ++i)
    if (static_cast<std::size_t>(verdict_rows[i].verdict) != i) return false;
  return true;
}
static_assert(in_order());
}  // namespace verdict_rows_are

[[nodiscard]] constexpr const VerdictRow& row_of(Verdict verdict) {
  return verdict_rows[static_cast<std::size_t>(verdict)];
}
[[nodiscard]] constexpr std::string_view verdict_name(Verdict verdict) { return row_of(verdict).name; }
[[nodiscard]] constexpr int severity(Verdict verdict) { return row_of(verdict).severity; }
[[nodiscard]] constexpr Concern concern_of(Verdict verdict) { return row_of(verdict).concern; }

/// Suspect or worse.
[[nodiscard]] constexpr bool is_bad(Verdict verdict) { return concern_of(verdict) >= Concern::possible; }

[[nodiscard]] constexpr Verdict worse_of(Verdict a, Verdict b) { return severity(b) > severity(a) ? b : a; }

/// The verdict of that name.
[[nodiscard]] constexpr std::optional<Verdict> verdict_named(std::string_view name) {
  for (const VerdictRow& row : verdict_rows)
    if (row.name == name) return row.verdict;
  return std::nullopt;
}

}  // namespace driftscope
