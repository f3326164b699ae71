// Adversarials that are made once and given to variants: their cells, whom they fool, R, claims on them.
#include <doctest/doctest.h>

#include <algorithm>

#include "core/base/json.hpp"
#include "core/base/rng.hpp"
#include "core/study/claim.hpp"
#include "core/study/study_schedule.hpp"
#include "core/study/study_tables.hpp"
#include "core/study/study_view.hpp"

namespace driftscope::test::study_transfer_test {
namespace {

documents::Study transfer_study() {
  documents::Study study;
  study.name = "s";
  study.models.push_back({"net", "net.onnx", {{"int8", "net8.onnx"}}, {{"original", "idx:a", {}}}});
  study.targets = {"pc/strict", "chrome/fast"};
  study.repetitions = 1;
  documents::StudyAttack attack;
  attack.name = "fgsm";
  attack.method = "fgsm";
  attack.epsilon = 0.1;
  attack.samples = 200;
  attack.models = {"net"};
  attack.transfer = true;
  study.attacks.push_back(attack);
  return study;
}

/// Plays the runner: the fourth of each five samples is answered wrongly everywhere, the fifth by int8 alone;
/// an adversarial fools the model itself, and int8 only where its place is even.
CampaignResults played(const documents::Study& study, std::int64_t samples, StudyResults* last = nullptr) {
  const std::vector<StudySubject> subjects = subjects_of(study);
  const StudySchedule schedule(study, {{samples}, {samples}});
  CampaignResults cells;
  StudyLedger ledger(study, study.targets);
  std::int64_t made_before = -1;
  while (const auto cell = schedule.next(ledger.results())) {
    REQUIRE(cells.size() < 200);
    const StudySubject& subject = subjects[cell->subject];
    const bool quantized = !subject.is_base();
    std::string item;
    nlohmann::json result;
    if (cell->task == StudyTask::times) {
      item = numbered_cell(times_name(subject), cell->repetition);
      result = encode_result(SessionTimes{.median_s = 1.0, .first_s = 1.0, .load_s = 1.0});
    } else if (cell->task == StudyTask::adversarials) {
      CHECK(cell->target == 0);
      CHECK(!quantized);
      item =
          samples_cell(adversarials_name(subject.model, study.attacks[cell->of]), cell->begin, cell->samples);
      AdversarialsPart part{.begin = cell->begin, .samples = cell->samples, .originals = {}, .labels = {}};
      for (std::int64_t i = cell->begin; i < cell->begin + cell->samples; ++i)
        if (i % 5 != 3) part.originals.push_back(i), part.labels.push_back(0);
      part.successes = std::ssize(part.originals);
      part.seconds = 0.5 * static_cast<double>(part.originals.size());
      part.file = "adversarials/x.npy";
      part.sha256 = "0";
      result = encode_result(part);
    } else {
      REQUIRE(cell->task == StudyTask::answers);
      AnswersPart part{.begin = cell->begin, .labels = {}, .predictions = {}};
      for (std::int64_t i = cell->begin; i < cell->begin + cell->samples; ++i) {
        part.labels.push_back(0);
        const bool wrong = cell->of == 1 ? !quantized || i % 2 == 0 : i % 5 == 3 || (quantized && i % 5 == 4);
        part.predictions.push_back(wrong ? 1 : 0);
      }
      if (cell->of == 1) {
        made_before = ledger.results().adversarials.at({0, 0}).made();
        CHECK(cell->begin + cell->samples <= made_before);
      }
      item = samples_cell(answers_name(subject, subject.data[cell->of]), cell->begin, cell->samples);
      result = encode_result(part);
    }
    const CampaignCell key{study.targets[cell->target], item};
    REQUIRE(!cells.contains(key));
    cells[key] = json_text(result);
    REQUIRE(ledger.add(key, cells[key]).ok());
  }
  CHECK(made_before == 160);
  const StudySchedule::Amount done = schedule.done(ledger.results());
  const StudySchedule::Amount total = schedule.total();
  CHECK(done.samples == total.samples);
  CHECK(done.attacks == total.attacks);
  CHECK(total.attacks == 200);  // made once, for both targets
  if (last != nullptr) *last = ledger.results();
  return cells;
}

StudyView view_of(const documents::Study& study, const CampaignResults& cells) {
  auto results = read_study_results(study, study.targets, cells);
  REQUIRE_MESSAGE(results.ok(), results.error().message);
  return {study, *std::move(results)};
}

}  // namespace

TEST_CASE("StudyTransfer_Adversarials_AreDataOfEveryVariant") {
  const documents::Study study = transfer_study();
  const std::vector<StudySubject> subjects = subjects_of(study);
  REQUIRE(subjects.size() == 2);
  CHECK(subjects[1].data.size() == 2);
  CHECK(subjects[1].data[1].name == "fgsm");
  CHECK(subjects[1].own_data() == 1);
}

TEST_CASE("StudyTransfer_Success_CountsWhatEveryVariantAnswersRightly") {
  const documents::Study study = transfer_study();
  const StudyView view = view_of(study, played(study, 300));
  const Figure regular = view.figure({MeasureKind::success, "fgsm", ""}, "net", 1);
  CHECK(regular.n == 120);  // of each five neither the fourth nor the fifth
  CHECK(*regular.value == 1.0);
  const Figure quantized = view.figure({MeasureKind::success, "fgsm", "int8"}, "net", 1);
  CHECK(quantized.n == 120);
  // Adversarials 4k, 4k + 1 and 4k + 2 count; the first and the last of them have even places.
  CHECK(*quantized.value == doctest::Approx(2.0 / 3.0));
  CHECK(*view.figure({MeasureKind::accuracy, "fgsm", "int8"}, "net", 1).value == 0.5);
  CHECK(*view.figure({MeasureKind::making, "fgsm", ""}, "net", 0).value == doctest::Approx(500.0));
  CHECK_FALSE(view.figure({MeasureKind::success, "other", ""}, "net", 0).value);
}

TEST_CASE("StudyTransfer_FooledLess_IsDecidedByTheSameAdversarials") {
  documents::Study study = transfer_study();
  documents::StudyClaim claim{"less", "fooled_less", {"net"}, "pc/strict", {"pc", "chrome"}, {}};
  claim.attack = "fgsm";
  claim.variant = "int8";
  const CampaignResults cells = played(study, 300);
  const auto checks = check_claim(view_of(study, cells), claim);
  REQUIRE(checks.size() == 2);  // the left target too: variants are compared, not targets
  CHECK(checks[0].answer == ClaimAnswer::holds);
  CHECK(checks[1].evidence.find("fooled alone 40, int8 alone 0") != std::string::npos);
  const auto few = check_claim(view_of(study, played(study, 200)), claim);
  CHECK(few[0].answer == ClaimAnswer::holds);
}

TEST_CASE("StudyLedger_AnyOrder_GivesTheSame") {
  const documents::Study study = transfer_study();
  StudyResults wanted;
  const CampaignResults cells = played(study, 300, &wanted);
  std::vector<CampaignCell> order;
  for (const auto& [cell, result] : cells) order.push_back(cell);
  constexpr std::uint64_t seed = 20261127;
  INFO("seed " << seed);
  Rng rng(seed);
  for (int round = 0; round < 20; ++round) {
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[rng.below(i)]);
    StudyLedger ledger(study, study.targets);
    for (const CampaignCell& cell : order) REQUIRE(ledger.add(cell, cells.at(cell)).ok());
    const StudyResults& got = ledger.results();
    CHECK(got.adversarials.at({0, 0}).originals == wanted.adversarials.at({0, 0}).originals);
    REQUIRE(got.answers.size() == wanted.answers.size());
    for (const auto& [key, answers] : wanted.answers)
      CHECK(got.answers.at(key).predictions == answers.predictions);
  }
}

TEST_CASE("StudyLedger_FailedCells_AreFoundAndOver") {
  const documents::Study study = transfer_study();
  CampaignResults cells;
  cells[{"pc/strict", "adversarials net/fgsm @0+2"}] = json_text(encode_failure(bad_input("it broke")));
  cells[{"pc/strict", "times net/float32 #1"}] = json_text(encode_result(SessionTimes{1.0, 1.0, 1.0}));
  REQUIRE(failed_cells(cells).size() == 1);
  CHECK(failed_cells(cells)[0].item == "adversarials net/fgsm @0+2");
  const StudyView view = view_of(study, cells);
  CHECK(view.figure({MeasureKind::success, "fgsm", "int8"}, "net", 1).text == "it broke");
}

TEST_CASE("StudyRobustness_TwoTargets_HaveTheFormulasOfTheStudies") {
  documents::Study study = transfer_study();
  study.attacks[0].transfer = false;
  study.targets.push_back("pc/fast");
  CampaignResults cells;
  const std::int64_t successes[] = {10, 20, 60};
  for (std::size_t t = 0; t < 3; ++t)
    cells[{study.targets[t], "attack net/float32/fgsm @0+100"}] =
        json_text(encode_result(AttackPart{0, 100, 100, successes[t], 5}));
  const StudyView view = view_of(study, cells);
  const auto r = [&](MeasureKind kind, std::size_t target) {
    return view.figure({kind, "", ""}, "net", target);
  };
  CHECK(*r(MeasureKind::robustness, 0).value == 0.0);
  CHECK(*r(MeasureKind::robustness, 1).value == doctest::Approx(0.2));
  CHECK(*r(MeasureKind::robustness, 2).value == 1.0);
  // Moves of 0.1 and 0.5 from the first target.
  CHECK(*r(MeasureKind::converted, 1).value == 0.0);
  CHECK(*r(MeasureKind::converted, 2).value == 1.0);
  CHECK_FALSE(r(MeasureKind::converted, 0).value);
  cells.erase({"pc/fast", "attack net/float32/fgsm @0+100"});
  CHECK_FALSE(view_of(study, cells).figure({MeasureKind::robustness, "", ""}, "net", 2).value);
}

TEST_CASE("StudyTables_Slips_AreCorrectedUnlessAsPublished") {
  documents::Study study = transfer_study();
  documents::PublishedRow row{"Net", "", "ONNX", "", "not here", {"0.12"}};
  row.slip = "the distance itself";
  row.corrected = {"0.0114"};
  study.tables.push_back({"VII", "R", {"R"}, {"-"}, {row}, ""});
  const StudyView view(study, {});
  const auto corrected = study_tables(view);
  REQUIRE(corrected.size() == 2);
  CHECK(corrected[1].rows[0].cells[2] == "0.0114");
  CHECK(corrected[1].note == "Net, ONNX: corrected; printed as 0.12; the distance itself.");
  const auto printed = study_tables(view, true);
  CHECK(printed[1].rows[0].cells[2] == "0.12");
  CHECK(printed[1].note.find("a slip, reprinted: 0.12") != std::string::npos);
}

}  // namespace driftscope::test::study_transfer_test
