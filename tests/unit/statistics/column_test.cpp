// Columns of numbers as people have them, and what is wrong with others.
#include <doctest/doctest.h>

#include <string>

#include "core/statistics/column.hpp"
#include "core/statistics/test_table.hpp"

namespace driftscope::test::column_test {
namespace {

Column column(const std::string& text) {
  const auto parsed = parse_column(text, "a.csv");
  REQUIRE_MESSAGE(parsed.ok(), (parsed.ok() ? "" : parsed.error().message));
  return *parsed;
}

std::string fault(const std::string& text) {
  const auto parsed = parse_column(text, "a.csv");
  REQUIRE_FALSE(parsed.ok());
  return parsed.error().message;
}

bool says(const std::string& text, const std::string& part) {
  CAPTURE(text);
  return text.find(part) != std::string::npos;
}

TEST_CASE("Column_HeaderCommentsBlankLinesAndCrlf") {
  const Column read = column("\xef\xbb\xbf# top-1\r\n\r\naccuracy\r\n 0.5 \r\n+1e-3 # one\r\n\"2\"\r\n-3");
  CHECK(read.name == "accuracy");
  CHECK(read.values == std::vector<double>{0.5, 1e-3, 2, -3});
  CHECK(read.lines == std::vector<std::int64_t>{4, 5, 6, 7});
  CHECK(place_in(read, 2) == "a.csv:6");
  CHECK(column("1\n2\n").name.empty());
  CHECK(column("1e-400\n").values[0] == 0);
}

TEST_CASE("Column_FaultsHaveTheirLine") {
  CHECK(says(fault("1\n2\nabc\n"), "a.csv:3: 'abc' is not a number"));
  CHECK(says(fault("1\n2,5\n"), "a.csv:2: '2,5' has more than one column"));
  CHECK(says(fault("x;y\n1;2\n"), "a.csv:1:"));
  CHECK(says(fault("1\nnan\n"), "a.csv:2:"));
  CHECK(says(fault("1\n-inf\n"), "finite"));
  CHECK(says(fault("1e999\n"), "finite"));
  CHECK(says(fault("NA\n1\n"), "leave out"));
  CHECK(says(fault("12x\n1\n"), "a.csv:1: '12x' is not a number"));
  CHECK(says(fault("1\n2 3\n"), "a.csv:2:"));
  CHECK(says(fault("name\nother\n1\n"), "a.csv:2:"));
  CHECK(says(fault(""), "no numbers"));
  CHECK(says(fault("# nothing\n\n"), "no numbers"));
  CHECK(says(fault("accuracy\n"), "no numbers"));
  CHECK(says(fault(std::string("1\n\x01\x00\xff\n", 6)), "a.csv:2: '\\x01\\x00\\xff' is not"));
}

Result<TestReport> asked(const std::string& test, const std::vector<std::string>& texts,
                         TestOptions options = {}) {
  TestRequest request;
  request.options = options;
  for (const std::string& text : texts) {
    request.columns.push_back(column(text));
    request.columns.back().path = request.columns.size() == 1 ? "a.csv" : "b.csv";
  }
  const StatisticalTest* const found = statistical_test_table().find(test);
  REQUIRE(found != nullptr);
  REQUIRE(found->files == texts.size());
  return found->run(request);
}

TEST_CASE("StatisticalTests_TakeWhatTheySay") {
  for (const StatisticalTest& test : statistical_test_table().all()) {
    CAPTURE(test.name);
    const std::string answers = "0\n1\n1\n1\n0\n1\n1\n1\n0\n1\n";
    const auto report = test.files == 1 ? asked(std::string(test.name), {answers})
                                        : asked(std::string(test.name), {answers, "1\n" + answers.substr(2)});
    REQUIRE(report.ok());
    CHECK(report->n > 0);
    CHECK_FALSE(report->sentences.empty());
    CHECK(report->too_few.empty());
    if (report->p && test.name != "holm") CHECK_FALSE(report->effects.empty());
  }
}

// The intervals of 7 of 10 as R's binom.test and prop.test (without correction) have them.
TEST_CASE("StatisticalTests_Rate_SaysBothIntervals") {
  const auto report = asked("rate", {"0\n1\n1\n1\n0\n1\n1\n1\n0\n1\n"});
  REQUIRE(report.ok());
  REQUIRE(!report->sentences.empty());
  CHECK(says(report->sentences[0], "7 of 10 are right, 70.00 %"));
  CHECK(says(report->sentences[0], "between 39.68 and 89.22 % (95 % confidence, Wilson"));
  CHECK(says(report->sentences[0], "Clopper and Pearson: 34.75 to 93.33 %"));
}

TEST_CASE("StatisticalTests_SayWhatIsMissing") {
  TestOptions paired;
  paired.paired = true;
  for (const std::string test : {"wilcoxon", "mcnemar", "bootstrap", "vargha-delaney"}) {
    const auto report = asked(test, {"1\n0\n1\n", "1\n0\n"}, paired);
    REQUIRE_FALSE(report.ok());
    CHECK(says(report.error().message, "a.csv:3: the first value without a partner"));
  }
  CHECK(says(asked("mcnemar", {"1\n7\n", "1\n0\n"}).error().message, "a.csv:2: 7 is neither 0 nor 1"));
  CHECK(says(asked("holm", {"0.1\n1.5\n"}).error().message, "a.csv:2: 1.5 is not a p value"));
  CHECK(says(asked("rate", {"1\n0.5\n"}).error().message, "a.csv:2: 0.5 is neither"));
  CHECK(says(asked("bootstrap", {"1\n", "1\n2\n"}).error().message, "needs at least 2"));
  CHECK(says(asked("wilcoxon", {"1\n2\n3\n4\n5\n", "2\n4\n6\n8\n10\n"})->too_few, "at least 6"));
  CHECK(asked("wilcoxon", {"1\n2\n3\n4\n5\n6\n", "2\n4\n6\n8\n10\n12\n"})->too_few.empty());
  CHECK(says(asked("mann-whitney", {"1\n2\n3\n", "4\n5\n6\n"})->too_few, "4 in each file"));
  TestOptions huge;
  huge.bootstrap.resamples = 2000000000;
  CHECK(says(asked("bootstrap", {"1\n2\n", "1\n2\n"}, huge).error().message, "--resamples"));
}

}  // namespace
}  // namespace driftscope::test::column_test
