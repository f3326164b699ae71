// Two targets' answers on one data set.
#include "core/statistics/mcnemar.hpp"

#include <fmt/format.h>

#include "core/base/format.hpp"
#include "core/statistics/test_table.hpp"

namespace driftscope::statistical_tests::mcnemar {
namespace {

constexpr std::string_view right_or_wrong =
    "without --labels expected 1 where the answer was right and 0 where it was wrong; for answers that are "
    "classes give the right ones: --labels LABELS.csv";

/// Answers are right where they equal the label, or where they are 1.
Result<PairedAnswers> count(const TestRequest& request) {
  const Column& a = request.columns[0];
  const Column& b = request.columns[1];
  if (!request.labels) {
    DRIFTSCOPE_CHECK(check_answers(a, right_or_wrong));
    DRIFTSCOPE_CHECK(check_answers(b, right_or_wrong));
  } else if (request.labels->values.size() != a.values.size()) {
    return bad_input(
        fmt::format("{} has {} labels, but {} and {} have {} answers each; expected one label a sample",
                    request.labels->path, request.labels->values.size(), a.path, b.path, a.values.size()));
  }
  PairedAnswers answers;
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    const double right = request.labels ? request.labels->values[i] : 1.0;
    const bool by_a = a.values[i] == right;
    const bool by_b = b.values[i] == right;
    ++(by_a ? (by_b ? answers.both : answers.only_a) : (by_b ? answers.only_b : answers.neither));
  }
  return answers;
}

Result<TestReport> run(const TestRequest& request) {
  DRIFTSCOPE_CHECK(check_pairs(request, "McNemar's test"));
  DRIFTSCOPE_TRY(const PairedAnswers answers, count(request));
  const TestOptions& options = request.options;
  const McNemar test = driftscope::mcnemar(answers, options.alternative, options.method);
  const std::string& a = request.columns[0].path;
  const std::string& b = request.columns[1].path;
  const std::int64_t n = std::ssize(request.columns[0].values);
  const std::int64_t apart = answers.only_a + answers.only_b;
  TestReport report;
  report.n = n;
  report.statistic = test.statistic;
  report.statistic_name = test.p.exact ? "smaller count of answers right in one alone" : "chi-square";
  report.p = test.p;
  const double difference = static_cast<double>(answers.only_a - answers.only_b) / static_cast<double>(n);
  report.effects = {{"odds ratio", test.odds_ratio}, {"difference of accuracy", difference}};
  if (apart > 0)
    report.effects.push_back(
        {"Cohen's g", static_cast<double>(answers.only_a) / static_cast<double>(apart) - 0.5});
  report.figures = {{"both", static_cast<double>(answers.both)},
                    {"only_a", static_cast<double>(answers.only_a)},
                    {"only_b", static_cast<double>(answers.only_b)},
                    {"neither", static_cast<double>(answers.neither)}};
  const std::string odds = test.odds_ratio ? format_number(*test.odds_ratio)
                           : apart == 0    ? "undefined"
                                           : "infinite";
  report.sentences = {
      fmt::format("Of {} samples {} are right in both, {} in {} alone, {} in {} alone, {} in neither: {}.", n,
                  answers.both, answers.only_a, a, answers.only_b, b, answers.neither,
                  p_text(test.p, options.alternative)),
      decision(test.p, options.alpha),
      fmt::format(
          "Effect: odds ratio {} (samples that {} alone has right, for each that {} alone has right); "
          "accuracy differs by {:+.2f} points.",
          odds, a, b, 100 * difference)};
  if (n < 6)
    report.too_few = fmt::format(
        "{} samples cannot reach p < 0.05, whatever the answers; McNemar's test needs "
        "at least 6 on which one alone is right",
        n);
  else if (apart < 6)
    report.sentences.push_back(
        fmt::format("They differ in {} of {} samples; below 6 the test cannot reach p < 0.05.", apart, n));
  return report;
}

}  // namespace

void add_to(StatisticalTestTable& table) {
  table.add({.order = 50,
             .name = "mcnemar",
             .summary = "answers of two targets to the same samples: is one right more often?",
             .labels = true,
             .options = {"alternative", "method", "labels", "paired"},
             .run = run});
}

}  // namespace driftscope::statistical_tests::mcnemar
