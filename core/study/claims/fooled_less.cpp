// "The variant is fooled less by adversarials of the model itself": by McNemar's test at 5 % on the same
// adversarials on the same target.
#include <fmt/format.h>

#include "core/statistics/mcnemar.hpp"
#include "core/statistics/rate.hpp"
#include "core/study/claim.hpp"
#include "core/study/study_view.hpp"

namespace driftscope::claims::fooled_less {

namespace {

constexpr double significant = 0.05;

ClaimCheck check(const StudyView& view, const documents::StudyClaim& claim, std::size_t subject,
                 std::size_t /*left*/, std::size_t target) {
  const auto variant = view.subject(view.subjects()[subject].model, claim.variant);
  const auto attack = view.attack(claim.attack);
  if (!variant || !attack) return {};
  const auto regular = view.fooled(subject, *attack, target);
  const auto other = view.fooled(*variant, *attack, target);
  PairedAnswers pairs;  // "right" is fooled
  std::int64_t n = 0;
  for (const auto& [sample, fooled] : regular) {
    const auto found = other.find(sample);
    if (found == other.end()) continue;
    ++n;
    std::int64_t& count =
        fooled ? (found->second ? pairs.both : pairs.only_a) : (found->second ? pairs.only_b : pairs.neither);
    ++count;
  }
  if (n == 0) return {};
  const McNemar test = mcnemar(pairs);
  const auto share = [&](std::int64_t fooled) {
    return 100.0 * static_cast<double>(fooled) / static_cast<double>(n);
  };
  ClaimCheck result;
  result.evidence =
      fmt::format("{:.2f} % and {} {:.2f} % of {} adversarials; fooled alone {}, {} alone {}; p {:.2g}",
                  share(pairs.both + pairs.only_a), claim.variant, share(pairs.both + pairs.only_b), n,
                  pairs.only_a, claim.variant, pairs.only_b, test.p.p);
  if (n < enough_for_a_rate) {
    result.answer = ClaimAnswer::undecided;
    result.evidence += "; too few samples";
  } else if (test.p.p < significant) {
    result.answer = pairs.only_a > pairs.only_b ? ClaimAnswer::holds : ClaimAnswer::fails;
  } else {
    // Fooled by exactly the same ones it is not fooled less; otherwise there may be too few to show it.
    result.answer = pairs.only_a + pairs.only_b == 0 ? ClaimAnswer::fails : ClaimAnswer::undecided;
  }
  return result;
}

}  // namespace

void add_to(ClaimTable& table) { table.add({"fooled_less", check, true}); }

}  // namespace driftscope::claims::fooled_less
