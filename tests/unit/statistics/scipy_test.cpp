// All tests against SciPy: tests/data/statistics/scipy_cases.txt, whose generator is beside it.
#include <doctest/doctest.h>

#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "core/statistics/bootstrap.hpp"
#include "core/statistics/effect_size.hpp"
#include "core/statistics/holm.hpp"
#include "core/statistics/mann_whitney.hpp"
#include "core/statistics/mcnemar.hpp"
#include "core/statistics/rate.hpp"
#include "core/statistics/wilcoxon.hpp"
#include "unit/support/files.hpp"

namespace driftscope::test::scipy_test {
namespace {

struct Case {
  std::vector<std::string> head;  ///< words before the first bar
  std::vector<std::vector<double>> lists;
  std::string line;
  [[nodiscard]] double number(std::size_t i) const { return std::stod(head.at(i)); }
  [[nodiscard]] Alternative alternative() const {
    return head.at(1) == "less"      ? Alternative::less
           : head.at(1) == "greater" ? Alternative::greater
                                     : Alternative::two_sided;
  }
};

PValueMethod method(const std::string& word) {
  return word == "exact" ? PValueMethod::exact : PValueMethod::approximate;
}

std::vector<Case> cases(const std::string& test) {
  const auto bytes = repository_file("tests/data/statistics/scipy_cases.txt");
  std::istringstream file(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  std::vector<Case> all;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(test + " ")) continue;
    Case one;
    one.line = line.substr(0, 100);
    std::istringstream words(line);
    for (std::string word; words >> word;)
      if (word == "|")
        one.lists.emplace_back();
      else if (one.lists.empty())
        one.head.push_back(word);
      else
        one.lists.back().push_back(std::stod(word));
    all.push_back(std::move(one));
  }
  return all;
}

bool close(double got, double expected, double relative = 1e-9) {
  return std::fabs(got - expected) <= relative * std::fabs(expected) + 1e-300;
}

TEST_CASE("Wilcoxon_EqualsSciPy") {
  const auto all = cases("wilcoxon");
  CHECK(all.size() >= 140);
  for (const Case& one : all) {
    INFO(one.line);
    const auto zeros = one.head[2] == "pratt" ? ZeroDifferences::pratt : ZeroDifferences::wilcox;
    const auto test = wilcoxon(one.lists[0], one.lists[1], {one.alternative(), method(one.head[3]), zeros});
    REQUIRE(test.ok());
    CHECK(close(test->p.p, one.number(4)));
    CHECK(test->w_plus == one.number(5));
    CHECK(test->p.exact == (one.head[3] == "exact"));
  }
}

TEST_CASE("MannWhitney_EqualsSciPy") {
  const auto all = cases("mann-whitney");
  CHECK(all.size() == 150);
  for (const Case& one : all) {
    INFO(one.line);
    const auto test = mann_whitney(one.lists[0], one.lists[1], {one.alternative(), method(one.head[2])});
    REQUIRE(test.ok());
    CHECK(close(test->p.p, one.number(3)));
    CHECK(test->u == one.number(4));
    const double pairs = static_cast<double>(one.lists[0].size() * one.lists[1].size());
    CHECK(vargha_delaney(one.lists[0], one.lists[1]) ==
          doctest::Approx(one.number(4) / pairs).epsilon(1e-14));
  }
}

TEST_CASE("McNemar_EqualsSciPy") {
  const auto all = cases("mcnemar");
  CHECK(all.size() >= 40);
  for (const Case& one : all) {
    INFO(one.line);
    PairedAnswers answers;
    answers.both = 100;
    answers.only_a = static_cast<std::int64_t>(one.lists[0][0]);
    answers.only_b = static_cast<std::int64_t>(one.lists[0][1]);
    const McNemar test = mcnemar(answers, one.alternative(), method(one.head[2]));
    CHECK(close(test.p.p, one.number(3)));
    CHECK(close(test.statistic, one.number(4)));
  }
}

TEST_CASE("IntervalsOfARate_EqualSciPy") {
  const auto all = cases("rate");
  CHECK(all.size() == 40);
  for (const Case& one : all) {
    INFO(one.line);
    const auto k = static_cast<std::int64_t>(one.lists[0][0]);
    const auto n = static_cast<std::int64_t>(one.lists[0][1]);
    const Interval interval = one.head[1] == "wilson" ? wilson_interval(k, n, one.number(2))
                                                      : clopper_pearson_interval(k, n, one.number(2));
    CHECK(interval.low == doctest::Approx(one.number(3)).epsilon(1e-9));
    CHECK(interval.high == doctest::Approx(one.number(4)).epsilon(1e-9));
  }
}

TEST_CASE("Holm_EqualsTheFormula") {
  const auto all = cases("holm");
  CHECK(all.size() == 20);
  for (const Case& one : all) {
    INFO(one.line);
    const auto adjusted = holm(one.lists[0]);
    REQUIRE(adjusted.size() == one.lists[1].size());
    for (std::size_t i = 0; i < adjusted.size(); ++i) CHECK(close(adjusted[i], one.lists[1][i]));
  }
}

double center_of(const std::string& center, std::span<const double> values) {
  if (center == "median") return median(values);
  double sum = 0.0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

// Other random numbers: ends agree within the noise of resampling, about 1 % of the interval's width for
// means; medians of small samples jump.
TEST_CASE("Bootstrap_AgreesWithSciPy") {
  const auto all = cases("bootstrap");
  CHECK(all.size() == 8);
  for (const Case& one : all) {
    INFO(one.line);
    BootstrapOptions options;
    options.resamples = 20000;
    options.kind = one.head[1] == "bca" ? BootstrapKind::bca : BootstrapKind::percentile;
    const auto result = bootstrap_interval(
        one.lists,
        [&](Samples drawn) { return center_of(one.head[2], drawn[0]) - center_of(one.head[2], drawn[1]); },
        options);
    const double width = one.number(4) - one.number(3);
    const double tolerance = (one.head[2] == "mean" ? 0.015 : 0.04) * width;
    CHECK(std::fabs(result.interval.low - one.number(3)) <= tolerance);
    CHECK(std::fabs(result.interval.high - one.number(4)) <= tolerance);
    CHECK(result.kind == options.kind);
  }
}

}  // namespace
}  // namespace driftscope::test::scipy_test
