// "The accuracy is lower there": fewer right answers on the same samples, by McNemar's test at 5 %.
#include <fmt/format.h>

#include "core/statistics/mcnemar.hpp"
#include "core/statistics/rate.hpp"
#include "core/study/claim.hpp"
#include "core/study/study_view.hpp"

namespace driftscope::claims::loses_accuracy {

namespace {

constexpr double significant = 0.05;

ClaimCheck check(const StudyView& view, const documents::StudyClaim& claim, std::size_t subject,
                 std::size_t left, std::size_t target) {
  const Both both = answers_of(view, subject, left, target);
  if (both.left == nullptr || both.right == nullptr) return {};
  const AnswerPair pair = pair_of(*both.left, *both.right);
  const McNemar test = mcnemar({.both = pair.both,
                                .only_a = pair.only_left,
                                .only_b = pair.only_right,
                                .neither = pair.n - pair.both - pair.only_left - pair.only_right});
  const auto share = [&](std::int64_t right) {
    return 100.0 * static_cast<double>(right) / static_cast<double>(pair.n);
  };
  ClaimCheck result;
  result.evidence =
      fmt::format("{:.2f} % and {:.2f} % of {} samples; right on {} alone {}, there alone {}; p {:.2g}",
                  share(pair.both + pair.only_left), share(pair.both + pair.only_right), pair.n, claim.left,
                  pair.only_left, pair.only_right, test.p.p);
  if (pair.n < enough_for_a_rate) {
    result.answer = ClaimAnswer::undecided;
    result.evidence += "; too few samples";
  } else if (test.p.p < significant) {
    result.answer = pair.only_left > pair.only_right ? ClaimAnswer::holds : ClaimAnswer::fails;
  } else {
    // Nobody can lose what both have: identical answers are no loss, others may be too few to show one.
    result.answer = pair.different == 0 ? ClaimAnswer::fails : ClaimAnswer::undecided;
  }
  return result;
}

}  // namespace

void add_to(ClaimTable& table) { table.add({"loses_accuracy", check}); }

}  // namespace driftscope::claims::loses_accuracy
