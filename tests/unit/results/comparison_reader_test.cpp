// What compare and verify write is read into the same view: written again, the document is the same.
#include "core/results/comparison_reader.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <iterator>

#include "core/base/json.hpp"
#include "core/results/verify_json.hpp"
#include "core/results/view_json.hpp"
#include "tests/unit/results/generated_view.hpp"
#include "tests/unit/support/seed.hpp"

namespace driftscope::test::comparison_reader_test {
namespace {

/// A view with every part in it once.
ComparisonView whole_view() {
  ComparisonView view;
  view.left.target = "pc/strict";
  view.left.trace.emplace();
  view.left.dataset = DatasetResult{.samples = 3, .correct = 2, .predictions = {0, 1, 2}};
  view.right.resize(2);
  TargetResult& right = view.right[0];
  right.target = "pc/fast";
  right.trace.emplace();
  right.trace->memory.push_back({1.0, 2, "process_pss"});
  right.dataset = view.left.dataset;
  Verification& verification = right.verification.emplace();
  verification.budgets = "wpt";
  LayerVerdict& verdict = verification.layers.emplace_back();
  verdict.verdict = Verdict::rounding;
  verdict.worst.emplace();
  verdict.findings.push_back({.id = "a.b"});
  verdict.external.emplace();
  RepeatVerification& repeats = verification.repeats.emplace();
  repeats.check.groups.push_back({1, 1, 1});
  repeats.check.different.emplace_back();
  repeats.different.emplace_back().metrics.emplace();
  Comparison& comparison = right.comparison.emplace();
  comparison.layers.emplace_back().place = 1;
  TargetResult& absent = view.right[1];
  absent.target = "chrome/fast";
  absent.error = Error{ErrorKind::missing, "no Chromium"};
  return view;
}

using Change = std::function<void(ComparisonView&)>;

Change of_verification(std::function<void(Verification&)> change) {
  return [change](ComparisonView& view) { change(*view.right[0].verification); };
}
Change of_verdict(std::function<void(LayerVerdict&)> change) {
  return of_verification([change](Verification& one) { change(one.layers[0]); });
}
Change of_repeats(std::function<void(RepeatVerification&)> change) {
  return of_verification([change](Verification& one) { change(*one.repeats); });
}
Change of_judged(std::function<void(JudgedDifference&)> change) {
  return of_repeats([change](RepeatVerification& one) {
    change(one.different[0]);
    one.check.different[0] = one.different[0].difference;
  });
}
Change of_difference(std::function<void(LayerDifference&)> change) {
  return [change](ComparisonView& view) { change(view.right[0].comparison->layers[0]); };
}
Change of_right(std::function<void(TargetResult&)> change) {
  return [change](ComparisonView& view) { change(view.right[0]); };
}

/// One change of every field that a document has to keep.
const std::vector<std::pair<const char*, Change>>& changes() {
  static const std::vector<std::pair<const char*, Change>> all = {
      {"model_name", [](ComparisonView& view) { view.model_name = "m.onnx"; }},
      {"model_sha256", [](ComparisonView& view) { view.model_sha256 = "12ab"; }},
      {"input_text", [](ComparisonView& view) { view.input_text = "seed:42"; }},
      {"input_label", [](ComparisonView& view) { view.input_label = "cat"; }},
      {"dataset_text", [](ComparisonView& view) { view.dataset_text = "idx:a,b"; }},
      {"command", [](ComparisonView& view) { view.command = "driftscope compare"; }},
      {"build", [](ComparisonView& view) { view.build = "abc"; }},
      {"machine", [](ComparisonView& view) { view.machine = R"({"cores":2})"; }},
      {"class_names", [](ComparisonView& view) { view.class_names = {"cat"}; }},
      {"gate", [](ComparisonView& view) { view.gate = R"({"passed":true})"; }},
      {"target", of_right([](TargetResult& one) { one.target = "pc/ort"; })},
      {"run", of_right([](TargetResult& one) { one.trace->run = R"({"engine":"fast"})"; })},
      {"no trace", of_right([](TargetResult& one) { one.trace.reset(); })},
      {"peak memory t_ms", of_right([](TargetResult& one) { one.trace->memory[0].t_ms = 3.0; })},
      {"peak memory bytes", of_right([](TargetResult& one) { one.trace->memory[0].bytes = 3; })},
      {"peak memory kind", of_right([](TargetResult& one) { one.trace->memory[0].kind = "wasm_heap"; })},
      {"time", of_right([](TargetResult& one) { one.stored_time = RunTime{5.0, TimeKind::watched}; })},
      {"time first_ns", of_right([](TargetResult& one) { one.stored_time.emplace().first_ns = 3.0; })},
      {"time runs", of_right([](TargetResult& one) { one.stored_time.emplace().runs = 7; })},
      {"time layers", of_right([](TargetResult& one) { one.stored_time.emplace().layers = "watched"; })},
      {"time error", of_right([](TargetResult& one) { one.stored_time.emplace().error = "gone"; })},
      {"error kind", [](ComparisonView& view) { view.right[1].error->kind = ErrorKind::io; }},
      {"error message", [](ComparisonView& view) { view.right[1].error->message = "gone"; }},
      {"samples", of_right([](TargetResult& one) { one.dataset->samples = 4; })},
      {"correct", of_right([](TargetResult& one) { one.dataset->correct = 1; })},
      {"predictions", of_right([](TargetResult& one) { one.dataset->predictions = {0, 1, 1}; })},
      {"first_divergence", of_right([](TargetResult& one) { one.comparison->first_divergence = "conv"; })},
      {"top1_left", of_right([](TargetResult& one) { one.comparison->output.top1_left = 3; })},
      {"top1_right", of_right([](TargetResult& one) { one.comparison->output.top1_right = 3; })},
      {"agree", of_right([](TargetResult& one) { one.comparison->output.agree = true; })},
      {"answer", of_right([](TargetResult& one) { one.comparison->output.kind = AnswerKind::map; })},
      {"answers", of_right([](TargetResult& one) { one.comparison->output.answers = 3; })},
      {"other answers", of_right([](TargetResult& one) { one.comparison->output.different = 3; })},
      {"peak_bytes", of_right([](TargetResult& one) { one.comparison->peak_bytes = 3; })},
      {"peak_kind", of_right([](TargetResult& one) { one.comparison->peak_kind = "wasm_heap"; })},
      {"difference place", of_difference([](LayerDifference& one) { one.place = 7; })},
      {"difference node", of_difference([](LayerDifference& one) { one.node = "conv"; })},
      {"difference op", of_difference([](LayerDifference& one) { one.op = "Conv"; })},
      {"difference output", of_difference([](LayerDifference& one) { one.output = "y"; })},
      {"difference shape", of_difference([](LayerDifference& one) { one.shape = {2}; })},
      {"difference constant", of_difference([](LayerDifference& one) { one.constant = true; })},
      {"kl", of_difference([](LayerDifference& one) { one.kl = 0.5; })},
      {"difference nan", of_difference([](LayerDifference& one) { one.metrics.nan = 5; })},
      {"difference inf", of_difference([](LayerDifference& one) { one.metrics.inf = 5; })},
      {"difference mean_abs", of_difference([](LayerDifference& one) { one.metrics.mean_abs = 5; })},
      {"left_ns", of_difference([](LayerDifference& one) { one.left_ns = 5; })},
      {"right_ns", of_difference([](LayerDifference& one) { one.right_ns = 5; })},
      {"recorded", of_difference([](LayerDifference& one) { one.recorded = false; })},
      {"difference reason", of_difference([](LayerDifference& one) { one.reason = "another shape"; })},
      {"verification sha", of_verification([](Verification& one) { one.model_sha256 = "ab"; })},
      {"verification target", of_verification([](Verification& one) { one.target = "pc/fast"; })},
      {"verification verdict", of_verification([](Verification& one) { one.verdict = Verdict::fault; })},
      {"first_fault", of_verification([](Verification& one) { one.first_fault = "conv"; })},
      {"overflows", of_verification([](Verification& one) {
         one.overflows = {{"pow", "Pow", "h", "float16", 0, 2, 8, 60000.0}};
       })},
      {"nonfinite",
       of_verification([](Verification& one) { one.nonfinite = {{"y", "last", "norm", 1, 2, 4}}; })},
      {"names", of_verification([](Verification& one) { one.names = "1 value matched"; })},
      {"no repeats", of_verification([](Verification& one) { one.repeats.reset(); })},
      {"node", of_verdict([](LayerVerdict& one) { one.node = "conv"; })},
      {"op", of_verdict([](LayerVerdict& one) { one.op = "Conv"; })},
      {"output", of_verdict([](LayerVerdict& one) { one.output = "y"; })},
      {"shape", of_verdict([](LayerVerdict& one) { one.shape = {1}; })},
      {"constant", of_verdict([](LayerVerdict& one) { one.constant = true; })},
      {"verdict", of_verdict([](LayerVerdict& one) { one.verdict = Verdict::suspect; })},
      {"worst index", of_verdict([](LayerVerdict& one) { one.worst->index = {1}; })},
      {"worst got", of_verdict([](LayerVerdict& one) { one.worst->got = 1; })},
      {"worst want", of_verdict([](LayerVerdict& one) { one.worst->want = 1; })},
      {"worst budget", of_verdict([](LayerVerdict& one) { one.worst->budget = 1; })},
      {"no worst", of_verdict([](LayerVerdict& one) { one.worst.reset(); })},
      {"group", of_verdict([](LayerVerdict& one) { one.group = {"before"}; })},
      {"finding id", of_verdict([](LayerVerdict& one) { one.findings[0].id = "a.c"; })},
      {"finding number", of_verdict([](LayerVerdict& one) { one.findings[0].numbers = {{"n", NAN}}; })},
      {"finding word", of_verdict([](LayerVerdict& one) { one.findings[0].words = {{"w", "x"}}; })},
      {"finding text", of_verdict([](LayerVerdict& one) { one.findings[0].words = {{"text", "x"}}; })},
      {"finding element", of_verdict([](LayerVerdict& one) { one.findings[0].elements = {{1, 2}}; })},
      {"external operators", of_verdict([](LayerVerdict& one) { one.external->operators = "gelu"; })},
      {"external metric",
       of_verdict([](LayerVerdict& one) { one.external->metric = BudgetMetric::absolute; })},
      {"external budget", of_verdict([](LayerVerdict& one) { one.external->budget = 1; })},
      {"external seen", of_verdict([](LayerVerdict& one) { one.external->seen = 1; })},
      {"external within", of_verdict([](LayerVerdict& one) { one.external->within = true; })},
      {"runs", of_repeats([](RepeatVerification& one) { one.check.runs = 9; })},
      {"values", of_repeats([](RepeatVerification& one) { one.check.values = 9; })},
      {"more groups", of_repeats([](RepeatVerification& one) { one.check.more_groups = 9; })},
      {"group first", of_repeats([](RepeatVerification& one) { one.check.groups[0].first = 9; })},
      {"group last", of_repeats([](RepeatVerification& one) { one.check.groups[0].last = 9; })},
      {"group runs", of_repeats([](RepeatVerification& one) { one.check.groups[0].runs = 9; })},
      {"later run", of_judged([](JudgedDifference& one) { one.difference.run = 9; })},
      {"later value", of_judged([](JudgedDifference& one) { one.difference.value = "y"; })},
      {"later node", of_judged([](JudgedDifference& one) { one.difference.node = "conv"; })},
      {"later op", of_judged([](JudgedDifference& one) { one.difference.op = "Conv"; })},
      {"later values", of_judged([](JudgedDifference& one) { one.difference.values = 9; })},
      {"later zeros", of_judged([](JudgedDifference& one) { one.difference.zero_signs = true; })},
      {"later reason", of_judged([](JudgedDifference& one) { one.difference.reason = "absent"; })},
      {"later metrics", of_judged([](JudgedDifference& one) { one.metrics->mean_rel = 9; })},
      {"no later metrics", of_judged([](JudgedDifference& one) { one.metrics.reset(); })},
      {"later first verdict", of_judged([](JudgedDifference& one) { one.first = Verdict::fault; })},
      {"later verdict", of_judged([](JudgedDifference& one) { one.later = Verdict::fault; })},
  };
  return all;
}

std::string written_again(const std::string& document) {
  const auto read = read_comparison(document);
  REQUIRE_MESSAGE(read.ok(), read.error().message);
  return view_json(*read);
}

std::string error_of(std::string_view document) {
  const auto read = read_comparison(document);
  return read.ok() ? "read" : read.error().message;
}

std::string with_right(const char* fields) {
  return std::string(R"({"format":"driftscope-compare-1","left":{"target":"a"},"right":[{"target":"b",)") +
         fields + "}]}";
}

std::string with_verify(const char* fields) {
  const std::string head = R"("verify":{"model_sha256":"","target":"","verdict":"fault","first_fault":null)";
  return with_right((head + fields + "}").c_str());
}

/// Some value in the document: any object, list or leaf, each level as likely as the next.
nlohmann::ordered_json& any_place(nlohmann::ordered_json& document, Rng& rng) {
  nlohmann::ordered_json* place = &document;
  while (place->is_structured() && !place->empty() && rng.below(6) != 0)
    place = &*std::next(place->begin(), static_cast<std::ptrdiff_t>(rng.below(place->size())));
  return *place;
}

}  // namespace

TEST_CASE("ReadComparison_OfGeneratedViews_IsWrittenTheSameAgain") {
  const std::uint64_t seed = test_seed(20261126);
  SEED_INFO(seed);
  ViewGenerator generator(seed);
  for (int i = 0; i < 300; ++i) {
    CAPTURE(i);
    const std::string document = view_json(generator.view());
    REQUIRE(written_again(document) == document);
  }
}

TEST_CASE("ReadComparison_OfAVerification_IsWrittenTheSameAgain") {
  const std::uint64_t seed = test_seed(20261127);
  SEED_INFO(seed);
  ViewGenerator generator(seed);
  for (int i = 0; i < 300; ++i) {
    CAPTURE(i);
    const std::string document = verification_json(generator.verification());
    const auto read = read_comparison(document);
    REQUIRE_MESSAGE(read.ok(), read.error().message);
    REQUIRE(verification_json(*read->left.verification) == document);
  }
}

TEST_CASE("ReadComparison_AnyValueReplaced_IsAnErrorOrWrittenTheSameAgain" * doctest::test_suite("large")) {
  const std::uint64_t seed = test_seed(20261128);
  SEED_INFO(seed);
  Rng rng(seed);
  ViewGenerator generator(rng.next());
  const std::vector<nlohmann::ordered_json> others = {
      nullptr, true, 3, -1, 0.5, 1e308, INT64_MAX, "x", "fault", {1, 2}, {{"a", 1}}, {{{"node", "n"}}}};
  int errors = 0;
  for (int i = 0; i < 3000; ++i) {
    CAPTURE(i);
    auto document = parse_ordered_json(view_json(generator.view()));
    any_place(document, rng) = others[rng.below(others.size())];
    CAPTURE(document.dump());
    const auto read = read_comparison(document.dump());
    if (!read.ok()) {
      ++errors;
      CHECK(read.error().message.find(": ") != std::string::npos);
      continue;
    }
    const std::string written = view_json(*read);
    REQUIRE(written_again(written) == written);
  }
  CHECK(errors > 300);
  CHECK(errors < 2900);
}

TEST_CASE("ReadComparison_EveryFieldOfTheView_IsInTheDocumentAndComesBack") {
  const std::string before = view_json(whole_view());
  REQUIRE(written_again(before) == before);
  for (const auto& [name, change] : changes()) {
    INFO("changed ", std::string(name));
    ComparisonView view = whole_view();
    change(view);
    const std::string changed = view_json(view);
    CHECK(changed != before);
    CHECK(written_again(changed) == changed);
  }
}

TEST_CASE("ReadComparison_OfAListOfVerifications_HasATargetForEach") {
  Verification verification;
  verification.target = "pc/fast";
  verification.verdict = Verdict::rounding;
  const std::string one = verification_json(verification);
  const auto read = read_comparison("[" + one + "," + one + "]");
  REQUIRE_MESSAGE(read.ok(), read.error().message);
  CHECK(read->left.target == "pc/fast");
  REQUIRE(read->right.size() == 1);
  CHECK(read->right[0].verification->verdict == Verdict::rounding);
}

TEST_CASE("ReadComparison_ARunThatHoldsLayersOfItsOwn_KeepsThem") {
  ComparisonView view = whole_view();
  view.right[0].trace->run = R"({"right":[{"layers":[{"node":"n"}]}],"layers":[{"node":"n"}]})";
  const auto read = read_comparison(view_json(view));
  REQUIRE_MESSAGE(read.ok(), read.error().message);
  CHECK(read->right[0].trace->run == view.right[0].trace->run);
}

TEST_CASE("ReadComparison_UnknownKeys_AreIgnored") {
  CHECK(error_of(with_right(R"("new":[{}],"layers":[{"node":"n","output":"y","newer":{"layers":[{}]}}],
                               "time":{"ns":1,"kind":"watched","what":3})")) == "read");
}

TEST_CASE("ReadComparison_OfAnEarlierVersion_NumbersItsLayers") {
  const auto read = read_comparison(with_right(
      R"("layers":[{"node":"n","output":"y"},
                   {"node":"m","output":"z","reason":"not recorded on the left"}])"));
  REQUIRE_MESSAGE(read.ok(), read.error().message);
  const auto& layers = read->right[0].comparison->layers;
  CHECK(layers[0].place == 1);
  CHECK(layers[1].place == 2);
  CHECK(layers[0].recorded);
  CHECK_FALSE(layers[1].recorded);
  CHECK(std::isnan(layers[0].metrics.max_abs));
}

TEST_CASE("ReadComparison_LaterRunsOfAnEarlierVersion_KeepTheMetricsThatThereWere") {
  const auto read = read_comparison(with_verify(
      R"(,"layers":[],"repeat_check":{"runs":2,"values":1,"agree":false,"text":"","groups":[],"different":[
         {"run":2,"node":"n","op":"o","value":"y","values":1,"zero_signs":false,"different_elements":3,
          "elements":9,"max_abs":0.5,"max_ulp":2,"verdict_first":"rounding","verdict":"fault"},
         {"run":3,"node":"n","op":"o","value":"y","values":1,"zero_signs":false,"reason":"another shape",
          "verdict_first":"rounding","verdict":"missing"}]})"));
  REQUIRE_MESSAGE(read.ok(), read.error().message);
  const auto& different = read->right[0].verification->repeats->different;
  REQUIRE(different.size() == 2);
  REQUIRE(different[0].metrics.has_value());
  CHECK(different[0].metrics->different_elements == 3);
  CHECK(different[0].metrics->elements == 9);
  CHECK(different[0].metrics->max_abs == 0.5);
  CHECK(different[0].metrics->max_ulp == 2.0);
  CHECK(std::isnan(different[0].metrics->max_rel));
  CHECK(different[0].metrics->inf == 0);
  CHECK_FALSE(different[1].metrics.has_value());
}

TEST_CASE("ReadComparison_AReasonOfAnEarlierVersion_IsAFindingUnlessItIsEmpty") {
  const auto read = read_comparison(with_verify(
      R"(,"layers":[{"node":"n","op":"o","output":"y","verdict":"fault","worst":null,"reason":"too far"},
                    {"node":"m","op":"o","output":"z","verdict":"rounding","worst":null,"reason":""}])"));
  REQUIRE_MESSAGE(read.ok(), read.error().message);
  const auto& layers = read->right[0].verification->layers;
  REQUIRE(layers[0].findings.size() == 1);
  CHECK(layers[0].findings[0].id == "stored.reason");
  CHECK(layers[1].findings.empty());
}

TEST_CASE("ReadComparison_NullOfWhatMayBeAbsent_IsAbsent") {
  const auto read = read_comparison(with_right(
      R"("error":null,"error_kind":null,"time":null,"verify":null,"layers":null,"dataset":null,"ran":null)"));
  REQUIRE_MESSAGE(read.ok(), read.error().message);
  const TargetResult& right = read->right[0];
  CHECK_FALSE(right.error.has_value());
  CHECK_FALSE(right.stored_time.has_value());
  CHECK_FALSE(did_run(right));
}

TEST_CASE("ReadComparison_OfAVerification_DidRun") {
  const auto read = read_comparison(verification_json(Verification()));
  REQUIRE_MESSAGE(read.ok(), read.error().message);
  CHECK_FALSE(read->left.trace.has_value());
  CHECK(did_run(read->left));
}

TEST_CASE("ReadComparison_WrongTypes_AreErrorsThatNameThePlace") {
  CHECK(error_of(with_right(R"("layers":[{"node":"n","output":"y"},{"node":3}])")) ==
        "right[0].layers[1].node: expected a string, got 3");
  CHECK(error_of(with_right(R"("layers":[{"node":"n","output":"y","max_abs":"big"}])")) ==
        "right[0].layers[0].max_abs: expected a number or null, got 'big'");
  CHECK(error_of(with_right(R"("layers":[{"node":"n","output":"y","shape":[1,"n"]}])")) ==
        "right[0].layers[0].shape[1]: expected a whole number of 64 bits, got 'n'");
  CHECK(error_of(with_right(R"("layers":[1])")) == "right[0].layers: expected objects alone");
  CHECK(error_of(with_right(R"("layers":{})")) == "right[0].layers: expected a list, got an object");
  CHECK(error_of(with_verify("")) == "right[0].verify: \"layers\" is missing");
  CHECK(error_of(with_verify(R"(,"layers":[{"node":"n","op":"o","output":"y","verdict":"bad"}])")) ==
        "right[0].verify.layers[0].verdict: 'bad' is unknown");
  CHECK(error_of(with_verify(R"(,"layers":[{"node":"n","op":"o","output":"y","verdict":"fault",
                                            "worst":{"index":[0],"got":1,"want":2}}])")) ==
        "right[0].verify.layers[0].worst: \"budget\" is missing");
  CHECK(error_of(with_right(R"("error":"x","error_kind":"odd")")) == "right[0].error_kind: 'odd' is unknown");
  CHECK(error_of(with_right(R"("time":{"ns":"a","kind":"unwatched"})")) ==
        "right[0].time.ns: expected a number or null, got 'a'");
  CHECK(error_of(with_right(R"("layers":[{"node":"n","output":"y","right_ns":-1}])")) ==
        "right[0].layers[0].right_ns: expected a whole number in [0, 9223372036854775807], got -1");
  CHECK(error_of(with_right(R"("time":{"kind":"unwatched"})")) == "right[0].time: \"ns\" is missing");
  CHECK(error_of(with_right(R"("time":{"ns":1,"kind":"guessed"})")) ==
        "right[0].time.kind: 'guessed' is unknown");
  CHECK(error_of(with_right(R"("time":{"ns":-1,"kind":"watched"})")) ==
        "right[0].time.ns: expected a finite number of at least 0, got -1");
  CHECK(error_of(with_right(R"("time":{"ns":1,"kind":"watched","runs":-3})")) ==
        "right[0].time.runs: expected a whole number in [0, 9223372036854775807], got -3");
  CHECK(error_of(with_right(R"("ran":[])")) == "right[0].ran: expected an object, got a list");
  CHECK(error_of(with_right(R"("dataset":{"samples":2,"predictions":[1,2,3]})")) ==
        "right[0].dataset: 3 predictions of 2 samples");
  CHECK(error_of(R"({"format":"driftscope-compare-1","machine":3,"left":{"target":"a"},"right":[]})") ==
        "machine: expected an object, got 3");
  CHECK(error_of(R"({"format":"driftscope-compare-1","left":{"target":"a"},"right":{}})") ==
        "right: expected a list, got an object");
  CHECK(error_of(R"([{"format":"driftscope-verify-2"}])") ==
        "[0]: expected the JSON of `driftscope verify --json`, got \"format\": 'driftscope-verify-2'");
  CHECK(
      error_of("{}") ==
      "the document: expected the JSON of `driftscope compare --json` or `driftscope verify --json`, got no "
      "\"format\"");
}

}  // namespace driftscope::test::comparison_reader_test
