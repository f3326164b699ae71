// "It is slower there": by at least `factor`, in every session against every session of the left target.
#include <fmt/format.h>

#include <algorithm>

#include "core/study/claim.hpp"
#include "core/study/study_view.hpp"

namespace driftscope::claims::slower {

namespace {

ClaimCheck check(const StudyView& view, const documents::StudyClaim& claim, std::size_t subject,
                 std::size_t left, std::size_t target) {
  const Times* const here = view.times(subject, target);
  const Times* const there = view.times(subject, left);
  if (here == nullptr || there == nullptr || here->sessions.empty() || there->sessions.empty()) return {};
  const auto medians = [](const Times& times) {
    std::vector<double> values;
    for (const SessionTimes& session : times.sessions) values.push_back(session.median_s);
    return values;
  };
  const std::vector<double> ours = medians(*here);
  const std::vector<double> theirs = medians(*there);
  const double factor = claim.factor.value_or(1.0);
  const double least = std::ranges::min(ours) / std::ranges::max(theirs);
  const double most = std::ranges::max(ours) / std::ranges::min(theirs);
  ClaimCheck result;
  result.evidence =
      fmt::format("{:.2f} × the time of {} (median; {:.2f} to {:.2f} over {} and {} sessions)",
                  median(ours) / median(theirs), claim.left, least, most, ours.size(), theirs.size());
  result.answer = least >= factor ? ClaimAnswer::holds
                  : most < factor ? ClaimAnswer::fails
                                  : ClaimAnswer::undecided;
  return result;
}

}  // namespace

void add_to(ClaimTable& table) { table.add({"slower", check}); }

}  // namespace driftscope::claims::slower
