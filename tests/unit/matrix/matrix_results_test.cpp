// What came of cells: read from the comparison that a cell wrote, kept as a line, shown as text.
#include "core/matrix/matrix_results.hpp"

#include <doctest/doctest.h>

#include "core/base/json.hpp"
#include "tests/unit/wall/stored.hpp"

namespace driftscope::test::matrix_results_test {
namespace {

using nlohmann::ordered_json;

documents::MatrixCell cell(const char* model, const char* target, const char* state) {
  documents::MatrixCell made;
  made.model = model;
  made.data = "seed:42";
  made.target = target;
  made.state = state;
  return made;
}

}  // namespace

TEST_CASE("CellOfComparison_HasTheVerdictOfTheRightTarget") {
  const auto made =
      cell_of_comparison(json_text(stored_comparison({{.target = "pc/webgl", .verdict = "fault"}})));
  REQUIRE_MESSAGE(made.ok(), made.error().message);
  CHECK(made->state == "fault");
  CHECK(made->first_bad == "conv1");
  CHECK(made->op == "Conv");
  CHECK(made->max_abs.value_or(0.0) > 0.0);
  CHECK(made->time_ns == 1.5e6);
  CHECK(made->time_kind == "unwatched");
  CHECK(cell_ran(*made));
  CHECK_FALSE(is_bad(*made));  // which verdicts are bad says fail_on
}

TEST_CASE("CellOfComparison_ATargetThatDidNotRun_HasItsReason") {
  ordered_json document = stored_comparison({{.target = "firefox/webgl", .verdict = "failed"}});
  const auto right = cell_of_comparison(json_text(document));
  REQUIRE_MESSAGE(right.ok(), right.error().message);
  CHECK(right->state == "failed");
  CHECK(right->error == "no <display>");
  CHECK(is_bad(*right));
  // Without the left one nothing was compared.
  document = stored_comparison({{}});
  document["left"] = {{"target", "pc/strict"}, {"error", "no memory"}};
  const auto left = cell_of_comparison(json_text(document));
  REQUIRE_MESSAGE(left.ok(), left.error().message);
  CHECK(left->state == "failed");
  CHECK(left->error == "pc/strict: no memory");
}

TEST_CASE("CellOfComparison_OtherDocuments_AreRefused") {
  CHECK_FALSE(cell_of_comparison("").ok());
  CHECK_FALSE(cell_of_comparison("{}").ok());
  const auto several = cell_of_comparison(json_text(stored_comparison({{}, {.target = "pc/fast"}})));
  REQUIRE_FALSE(several.ok());
  CHECK(several.error().message == "expected the comparison of two targets, got 3");
}

TEST_CASE("CellLine_IsReadAsItWasWritten") {
  documents::MatrixCell made = cell("net", "pc/fast", "rounding");
  made.key = "ab";
  made.same_answer = false;
  made.time_ns = 1.5e6;
  made.checked = true;
  made.error = "a \"line\"\nof two";
  const std::string line = cell_line(made);
  CHECK(line.find('\n') == std::string::npos);
  const auto read = read_cell(line);
  REQUIRE(read.ok());
  CHECK(cell_line(*read) == line);
  CHECK(read->same_answer == false);
  CHECK_FALSE(read_cell("{\"model\": 3}").ok());
}

TEST_CASE("MatrixText_HasATablePerModelAndWhatIsBad") {
  documents::MatrixResults results;
  results.left = "pc/strict";
  results.total = 5;
  results.cells = {cell("net", "pc/fast", "rounding"), cell("net", "pc/webgl", "fault"),
                   cell("other", "pc/fast", "failed")};
  results.cells[0].time_ns = 1.5e6;
  results.cells[0].time_kind = "unwatched";
  results.cells[1].time_ns = 2.5e6;
  results.cells[1].time_kind = "watched";
  results.cells[0].same_answer = false;
  results.cells[1].checked = true;
  results.cells[1].first_bad = "Conv_0";
  results.cells[1].op = "Conv";
  results.cells[1].max_abs = 0.5;
  results.cells[2].error = "no \x1b[31madapter";
  const std::string text = matrix_text(results);
  CHECK(text.find("~ rounding  1.50 ms, other answer") != std::string::npos);
  CHECK(text.find("2.50 ms") == std::string::npos);
  CHECK(text.find("net on seed:42, pc/webgl: ✗ fault in Conv_0 (Conv), largest error 0.5\n") !=
        std::string::npos);
  CHECK(text.find("other on seed:42, pc/fast: ✗ did not run: ") != std::string::npos);
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(text.ends_with("3 of 5 cells: 1 rounding, 1 fault, 1 did not run; compared with pc/strict\n"));
}

TEST_CASE("CellOfVerification_OfSeveralTargets_IsTheWorst") {
  const ordered_json document =
      stored_comparison({{.target = "pc/fast"}, {.target = "chrome/webgpu", .verdict = "fault"}});
  const ordered_json& fine = document["right"][0]["verify"];
  const ordered_json& wrong = document["right"][1]["verify"];
  const auto one = cell_of_verification(json_text(fine));
  REQUIRE_MESSAGE(one.ok(), one.error().message);
  CHECK(one->state == "rounding");
  CHECK(one->target == "pc/fast");
  const auto several = cell_of_verification(json_text(ordered_json{fine, wrong, fine}));
  REQUIRE_MESSAGE(several.ok(), several.error().message);
  CHECK(several->state == "fault");
  CHECK(several->target == "chrome/webgpu");
  CHECK(several->first_bad == "conv1");
  CHECK_FALSE(cell_of_verification("[]").ok());
}

TEST_CASE("VerifiedText_SaysWhatIsBadAndHowMany") {
  documents::MatrixResults results;
  results.total = 3;
  results.cells = {cell("net", "pc/fast", "rounding"), cell("net", "pc/webgl", "fault")};
  results.cells[1].checked = true;
  CHECK(verified_text(results) ==
        "net on seed:42, pc/webgl: ✗ fault\n\n2 of 3 traces: 1 rounding, 1 fault\n");
  results.cells.pop_back();
  CHECK(verified_text(results) == "1 of 3 traces: 1 rounding\n");
}

}  // namespace driftscope::test::matrix_results_test
