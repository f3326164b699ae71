// Cells of a study: their order, what is read of them, the tables and claims made of them.
#include "core/study/study_results.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "core/base/json.hpp"
#include "core/study/claim.hpp"
#include "core/study/stored_study.hpp"
#include "core/study/study_charts.hpp"
#include "core/study/study_schedule.hpp"
#include "core/study/study_tables.hpp"
#include "core/study/study_view.hpp"

namespace driftscope::test::study_results_test {
namespace {

documents::Study study_of(std::vector<std::string> targets) {
  documents::Study study;
  study.name = "s";
  study.models.push_back({"net", "net.onnx", {}, {{"original", "idx:a"}, {"originals", "idx:b"}}});
  study.targets = std::move(targets);
  study.repetitions = 2;
  return study;
}

/// `samples` from `begin` on, of which each `wrong`-th has class 1 in place of 0.
AnswersPart part(std::int64_t begin, std::int64_t samples, std::int64_t wrong) {
  AnswersPart part{.begin = begin, .labels = {}, .predictions = {}, .outputs = {}};
  for (std::int64_t i = begin; i < begin + samples; ++i) {
    part.labels.push_back(0);
    part.predictions.push_back(wrong > 0 && i % wrong == 0 ? 1 : 0);
    part.outputs.push_back(0.1f * static_cast<float>(i + wrong));
  }
  return part;
}

class Cells {
 public:
  explicit Cells(documents::Study study) : study_(std::move(study)), subjects_(subjects_of(study_)) {}
  void answers(const std::string& target, const AnswersPart& one, std::size_t data = 0) {
    cells_[{target, samples_cell(answers_name(subjects_[0], subjects_[0].data[data]), one.begin,
                                 std::ssize(one.labels))}] = json_text(encode_result(one));
  }
  void times(const std::string& target, std::int64_t repetition, double seconds) {
    cells_[{target, numbered_cell(times_name(subjects_[0]), repetition)}] =
        json_text(encode_result(SessionTimes{.median_s = seconds, .first_s = seconds, .load_s = 1.0}));
  }
  void fail(const std::string& target, const std::string& item) {
    cells_[{target, item}] = json_text(encode_failure(bad_input("it broke")));
  }
  [[nodiscard]] StudyResults read() const {
    auto results = read_study_results(study_, study_.targets, cells_);
    REQUIRE_MESSAGE(results.ok(), results.error().message);
    return *std::move(results);
  }
  [[nodiscard]] StudyView view() const { return {study_, read()}; }

  documents::Study study_;
  std::vector<StudySubject> subjects_;
  CampaignResults cells_;
};

documents::StudyClaim claim(std::string kind) {
  return {"it is said", std::move(kind), {"net"}, "pc/strict", {"chrome"}, 2.0};
}

}  // namespace

TEST_CASE("StudyResults_Parts_AreJoinedUpToTheFirstGap") {
  Cells cells(study_of({"pc/strict"}));
  cells.answers("pc/strict", part(0, 8, 4));
  cells.answers("pc/strict", part(8, 100, 4));
  cells.answers("pc/strict", part(200, 10, 4));
  cells.answers("pc/strict", part(0, 3, 0), 1);  // a data set whose name begins like the other's
  const StudyResults results = cells.read();
  const Answers& first = results.answers.at({0, 0, 0});
  CHECK(first.samples() == 108);
  CHECK(first.correct() == 81);
  CHECK(first.outputs[3] == 0.1f * 7.0f);  // the same float again
  CHECK(results.answers.at({0, 1, 0}).samples() == 3);
}

TEST_CASE("StudyResults_Damaged_NameTheCell") {
  Cells cells(study_of({"pc/strict"}));
  for (const char* const result : {"7", R"({"begin":0})", R"({"begin":0,"labels":[1],"predictions":[1,2]})",
                                   R"({"begin":0,"labels":[1,1],"predictions":[1,2],"outputs":[1,2,3]})"}) {
    CAPTURE(result);
    cells.cells_[{"pc/strict", "answers net/float32/original @0+2"}] = result;
    const auto read = read_study_results(cells.study_, cells.study_.targets, cells.cells_);
    REQUIRE(!read.ok());
    CHECK(read.error().message.find("answers net/float32/original @0+2") != std::string::npos);
  }
}

TEST_CASE("StudySchedule_Rounds_LeaveTargetsWithTheSameNumberOfSamples") {
  Cells cells(study_of({"pc/strict", "chrome/fast"}));
  const StudySchedule schedule(cells.study_, {{150, 20}});
  std::vector<std::string> order;
  while (const auto cell = schedule.next(cells.read())) {
    const std::string& target = cells.study_.targets[cell->target];
    if (cell->task == StudyTask::times) {
      cells.times(target, cell->repetition, 1.0);
      order.push_back(target + " time");
      continue;
    }
    CHECK(cell->samples <= 100);
    cells.answers(target, part(cell->begin, cell->samples, 0), cell->of);
    order.push_back(target + " " + std::to_string(cell->begin + cell->samples));
    REQUIRE(order.size() < 50);
  }
  CHECK(order == std::vector<std::string>{"pc/strict 100", "chrome/fast 100", "pc/strict time",
                                          "chrome/fast time", "pc/strict 20", "chrome/fast 20",
                                          "pc/strict 150", "chrome/fast 150", "pc/strict time",
                                          "chrome/fast time"});
  CHECK(schedule.done(cells.read()).samples == schedule.total().samples);
  CHECK(schedule.total().samples == 340);
  CHECK(schedule.done(cells.read()).measurements == 4);
}

TEST_CASE("StudySchedule_WhatFailed_IsOver") {
  Cells cells(study_of({"pc/strict"}));
  cells.fail("pc/strict", "times net/float32 #1");
  cells.fail("pc/strict", "answers net/float32/original @0+8");
  cells.fail("pc/strict", "answers net/float32/originals @0+8");
  const StudySchedule schedule(cells.study_, {{150, 20}});
  CHECK_FALSE(schedule.next(cells.read()).has_value());
  const StudyView view = cells.view();
  CHECK(view.figure({MeasureKind::accuracy, "", ""}, "net", 0).text == "it broke");
  CHECK(view.figure({MeasureKind::time, "", ""}, "net", 0).text == "it broke");
}

TEST_CASE("StudyAttacks_Parts_AreAddedAndComeLast") {
  documents::Study study = study_of({"pc/strict"});
  study.repetitions = 1;
  study.attacks.push_back({"small", "fgsm", 0.1, {}, 50, {"net"}});
  study.attacks.push_back({"other", "fgsm", 0.1, {}, {}, {}});
  Cells cells(study);
  const StudySchedule schedule(study, {{100, 20}});
  CHECK(schedule.total().attacks == 50);
  std::vector<std::int64_t> ends;
  while (const auto cell = schedule.next(cells.read())) {
    if (cell->task == StudyTask::attack) {
      CHECK(cell->of == 0);
      const AttackPart part{cell->begin, cell->samples, cell->samples / 2, cell->samples / 4, 7};
      cells.cells_[{"pc/strict", samples_cell(attack_name(cells.subjects_[0], study.attacks[0]), cell->begin,
                                              cell->samples)}] = json_text(encode_result(part));
      ends.push_back(cell->begin + cell->samples);
    } else if (cell->task == StudyTask::answers) {
      CHECK(ends.empty());
      cells.answers("pc/strict", part(cell->begin, cell->samples, 0), cell->of);
    } else {
      cells.times("pc/strict", cell->repetition, 1.0);
    }
  }
  CHECK(ends == std::vector<std::int64_t>{20, 50});
  const Figure figure = cells.view().figure({MeasureKind::success, "small", ""}, "net", 0);
  CHECK(figure.n == 25);
  CHECK(*figure.value == 12.0 / 25.0);
  CHECK(figure.text.find("too few") != std::string::npos);
  cells.cells_[{"pc/strict", "attack net/float32/small @0+20"}] =
      R"({"begin":0,"samples":20,"attacked":10,"successes":11,"queries":1})";
  CHECK_FALSE(read_study_results(study, study.targets, cells.cells_).ok());
}

TEST_CASE("StudyFigures_OfKnownAnswers_AreExact") {
  Cells cells(study_of({"pc/strict", "chrome/fast"}));
  cells.answers("pc/strict", part(0, 200, 0));
  cells.answers("chrome/fast", part(0, 200, 10));
  cells.times("chrome/fast", 1, 0.5);
  cells.times("chrome/fast", 2, 1.5);
  const StudyView view = cells.view();
  const Figure accuracy = view.figure({MeasureKind::accuracy, "original", ""}, "net", 1);
  CHECK(*accuracy.value == 0.9);
  CHECK(accuracy.text.starts_with("90.00 % ["));
  CHECK(*view.figure({MeasureKind::misclassified, "", ""}, "net", 1).value == 0.1);
  CHECK(*view.figure({MeasureKind::difference, "", ""}, "net", 1).value == doctest::Approx(1.0));
  CHECK(*view.figure({MeasureKind::time, "", ""}, "net", 1).value == 10'000.0);
  CHECK_FALSE(view.figure({MeasureKind::accuracy, "other", ""}, "net", 1).value);
  CHECK_FALSE(view.figure({MeasureKind::accuracy, "", "int8"}, "net", 1).value);
}

TEST_CASE("StudyCharts_HaveABarForEachTargetThatHasRun") {
  Cells cells(study_of({"pc/strict", "chrome/fast"}));
  CHECK(study_charts(cells.view()).empty());
  cells.answers("pc/strict", part(0, 200, 0));
  cells.answers("chrome/fast", part(0, 200, 10));
  cells.answers("pc/strict", part(0, 50, 0), 1);
  cells.times("chrome/fast", 1, 0.5);
  const std::vector<StudyChart> charts = study_charts(cells.view());
  REQUIRE(charts.size() == 3);
  CHECK(charts[0].title == "Accuracy, net on original");
  REQUIRE(charts[0].bars.size() == 2);
  CHECK(charts[0].bars[1].label == "chrome/fast");
  CHECK(charts[0].bars[1].value == doctest::Approx(90.0));
  CHECK(charts[0].bars[1].interval->low < 90.0);
  CHECK(charts[0].bars[1].series == 1);
  CHECK(charts[1].title == "Accuracy, net on originals");
  CHECK(charts[1].bars.size() == 1);
  CHECK(charts[2].group == "Seconds for 10,000 inferences");
  CHECK(charts[2].logarithmic);
  CHECK(charts[2].bars[0].value == doctest::Approx(5000.0));
}

TEST_CASE("StoredStudy_DamagedFiles_AreNamed") {
  const auto error = [](const StudyTexts& texts) { return read_stored_study(texts).error().message; };
  CHECK(error({"7", "", "[]"}).starts_with("study.json: "));
  const std::string study =
      R"({"format": "driftscope-study-1", "name": "s", "title": "S", "about": "", "targets": ["pc/strict"],
          "models": [{"name": "net", "path": "net.onnx", "data": [{"name": "d", "source": "idx:a"}]}]})";
  CHECK(error({study, "nothing", "[]"}).starts_with("cells.jsonl: "));
}

TEST_CASE("StudyClaims_HoldFailOrAreNotDecided") {
  const auto answer = [](const std::string& kind, std::int64_t samples, std::int64_t wrong_left,
                         std::int64_t wrong_right) {
    Cells cells(study_of({"pc/strict", "chrome/fast"}));
    cells.answers("pc/strict", part(0, samples, wrong_left));
    cells.answers("chrome/fast", part(0, samples, wrong_right));
    cells.times("pc/strict", 1, 1.0);
    cells.times("chrome/fast", 1, 3.0);
    const auto checks = check_claim(cells.view(), claim(kind));
    REQUIRE(checks.size() == 1);
    return checks[0].answer;
  };
  CHECK(answer("loses_accuracy", 200, 0, 10) == ClaimAnswer::holds);
  CHECK(answer("loses_accuracy", 200, 10, 0) == ClaimAnswer::fails);
  CHECK(answer("loses_accuracy", 200, 10, 10) == ClaimAnswer::fails);
  CHECK(answer("loses_accuracy", 200, 0, 100) == ClaimAnswer::undecided);  // two samples: p = 0.5
  CHECK(answer("loses_accuracy", 50, 0, 2) == ClaimAnswer::undecided);     // too few
  CHECK(answer("same_answers", 200, 10, 10) == ClaimAnswer::holds);
  CHECK(answer("same_answers", 200, 0, 100) == ClaimAnswer::fails);
  CHECK(answer("same_answers", 50, 10, 10) == ClaimAnswer::undecided);
  CHECK(answer("slower", 50, 0, 0) == ClaimAnswer::holds);
}

TEST_CASE("StudyTables_PublishedRows_HaveOursBelow") {
  documents::Study study = study_of({"pc/strict"});
  study.tables.push_back({"IV",
                          "accuracy",
                          {"acc"},
                          {"accuracy"},
                          {{"Net", "net", "PC", "pc", "", {"98.9"}},
                           {"Net", "net", "Phone", "", "no phone, \"none\" here", {"97"}}},
                          ""});
  Cells cells(study);
  cells.answers("pc/strict", part(0, 100, 0));
  const std::vector<StudyTable> tables = study_tables(cells.view());
  REQUIRE(tables.size() == 2);
  const StudyTable& table = tables[1];
  REQUIRE(table.rows.size() == 4);
  CHECK(table.rows[0].published);
  CHECK(table.rows[1].cells[2].starts_with("100.00 % "));
  CHECK(table.rows[3].cells[2] == "no phone, \"none\" here");
  CHECK(table_csv(table).find("\"no phone, \"\"none\"\" here\",here\n") != std::string::npos);
  CHECK(table_latex(table).find("100.00 \\% ") != std::string::npos);
  CHECK(study_text(cells.view(), tables).find("· Net") != std::string::npos);
}

TEST_CASE("StudyTables_FormulasInCsv_AreText") {
  const StudyTable table{.id = "x", .title = "", .note = "", .columns = {"=1+1"}, .rows = {{{"-2"}}}};
  CHECK(table_csv(table) == "'=1+1,whose\n'-2,here\n");
}

}  // namespace driftscope::test::study_results_test
