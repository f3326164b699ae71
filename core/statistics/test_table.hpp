// The statistical tests that people can ask for by name. A test is a file in tests/: each FOO.cpp defines
// `void driftscope::statistical_tests::foo::add_to(StatisticalTestTable&)`; the table is generated from the
// folder at configure time, never edited. What it computes is a pure function of its own (wilcoxon.hpp, …);
// here it meets columns, options and words. Client: the command.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/statistics/bootstrap.hpp"
#include "core/statistics/column.hpp"
#include "core/statistics/p_value.hpp"
#include "core/statistics/wilcoxon.hpp"

namespace driftscope {

enum class Center { mean, median };

struct TestOptions {
  Alternative alternative = Alternative::two_sided;
  bool paired = false;
  PValueMethod method = PValueMethod::automatic;
  ZeroDifferences zeros = ZeroDifferences::wilcox;
  Center center = Center::mean;
  BootstrapOptions bootstrap;  ///< its confidence is that of every interval
  double alpha = 0.05;         ///< what counts as significant, in (0, 1)
};

struct TestRequest {
  std::vector<Column> columns;  ///< as many as the test has files
  std::optional<Column> labels;
  TestOptions options;
};

/// How large a difference is, beside how sure it is.
struct Effect {
  std::string name;             ///< "A", "rank-biserial r", "odds ratio", …
  std::optional<double> value;  ///< nothing: it divides by 0
  std::string size = {};        ///< "small", where its authors have such words
};

struct ReportedInterval {
  std::string of;  ///< "difference of means"
  std::string method;
  double confidence = 0.0;
  Interval interval;
};

struct TestReport {
  std::int64_t n = 0;  ///< pairs, or values in all
  std::optional<double> statistic;
  std::string statistic_name;
  std::optional<PValue> p;
  std::vector<Effect> effects;  ///< the first is the test's own
  std::optional<ReportedInterval> interval;
  std::map<std::string, double> figures;  ///< more numbers, by name
  std::vector<double> adjusted;           ///< p values, in the order of the file
  std::vector<std::string> sentences;     ///< what it says, for people
  /// Too few values to say anything at this significance: how many are needed. Empty: enough.
  std::string too_few;
};

struct StatisticalTest {
  int order = 50;  ///< in lists, ascending
  std::string_view name;
  std::string_view summary;
  std::size_t files = 2;
  bool labels = false;  ///< takes a file of labels too
  /// Which of the options above change its result: "alternative", "method", …; others are refused.
  std::vector<std::string_view> options = {};
  Result<TestReport> (*run)(const TestRequest& request) = nullptr;
};

class StatisticalTestTable {
 public:
  void add(StatisticalTest test);
  /// In their order.
  [[nodiscard]] std::span<const StatisticalTest> all() const { return tests_; }
  /// Null: there is none of this name.
  [[nodiscard]] const StatisticalTest* find(std::string_view name) const;

 private:
  std::vector<StatisticalTest> tests_;
};

/// All of this build (generated: build/generated/statistical_test_registry.cpp).
[[nodiscard]] const StatisticalTestTable& statistical_test_table();

/// An error unless both columns of the request have the same length.
[[nodiscard]] Status check_pairs(const TestRequest& request, std::string_view test);

/// An error unless all values are 0 or 1, as `meaning` says.
[[nodiscard]] Status check_answers(const Column& column, std::string_view meaning);

/// An error where a file has too few values to draw from, or resampling would take minutes.
[[nodiscard]] Status check_resampling(const TestRequest& request);

[[nodiscard]] ReportedInterval reported(const TestRequest& request, std::string of,
                                        const BootstrapInterval& interval);
/// "The true A lies between 0.4 and 0.7 (95 % confidence, bca, 10000 resamples)."
[[nodiscard]] std::string interval_text(const ReportedInterval& interval);

/// "p = 0.0234 (exact, two-sided)".
[[nodiscard]] std::string p_text(const PValue& p, Alternative alternative);

/// What p says: whether the difference is significant, and if not, what that does not mean.
[[nodiscard]] std::string decision(const PValue& p, double alpha);

/// "A = 0.61 (small): in 61 % of all pairs a.csv is larger than b.csv, ties counted half".
[[nodiscard]] std::string a_text(double a, const TestRequest& request, bool paired);

}  // namespace driftscope
