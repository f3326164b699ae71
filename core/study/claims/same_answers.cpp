// "It answers the same there": the same class for every sample.
#include <fmt/format.h>

#include "core/statistics/rate.hpp"
#include "core/study/claim.hpp"
#include "core/study/study_view.hpp"

namespace driftscope::claims::same_answers {

namespace {

ClaimCheck check(const StudyView& view, const documents::StudyClaim& /*claim*/, std::size_t subject,
                 std::size_t left, std::size_t target) {
  const Both both = answers_of(view, subject, left, target);
  if (both.left == nullptr || both.right == nullptr) return {};
  const AnswerPair pair = pair_of(*both.left, *both.right);
  const Interval interval = wilson_interval(pair.different, pair.n);
  ClaimCheck result;
  result.evidence = fmt::format("{} of {} samples have another class: at most {:.2f} % of such samples would",
                                pair.different, pair.n, 100.0 * interval.high);
  if (pair.different > 0)
    result.answer = ClaimAnswer::fails;
  else
    result.answer = pair.n < enough_for_a_rate ? ClaimAnswer::undecided : ClaimAnswer::holds;
  return result;
}

}  // namespace

void add_to(ClaimTable& table) { table.add({"same_answers", check}); }

}  // namespace driftscope::claims::same_answers
