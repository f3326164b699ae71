// The report: self-contained, small for any model, and complete for any numbers and names.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "core/base/rng.hpp"
#include "core/base/text.hpp"
#include "core/report/report.hpp"
#include "core/report/section.hpp"
#include "core/report/tables.hpp"
#include "core/results/layer_rank.hpp"
#include "tests/unit/support/model_builder.hpp"
#include "tests/unit/support/seed.hpp"
#include "tests/unit/support/text.hpp"

namespace driftscope::test::report_test {
namespace {

constexpr std::size_t two_megabytes = 2'000'000;

/// A comparison of `layers` layers on a left and `rights` right targets; `change` makes each unlike.
ComparisonView made_view(std::size_t layers, std::size_t rights, const std::string& name_start,
                         const std::function<void(LayerVerdict&, LayerDifference&, std::size_t)>& change,
                         const Tensor& tensor) {
  ComparisonView view;
  view.model_name = "net.onnx";
  view.model_sha256 = std::string(64, 'a');
  view.command = "driftscope compare net.onnx --input seed:42";
  view.build = "abc.def";
  const auto add = [&](const std::string& target, bool compared) {
    TargetResult result;
    result.target = target;
    result.trace.emplace();
    result.verification.emplace();
    if (compared) result.comparison.emplace();
    for (std::size_t i = 0; i < layers; ++i) {
      const std::string node = name_start + std::to_string(i);
      LayerVerdict verified;
      verified.node = node;
      verified.op = "Conv";
      verified.output = node + "_out";
      verified.shape = tensor.shape();
      verified.verdict = Verdict::rounding;
      verified.budget_used = 0.25;
      LayerDifference difference;
      difference.place = i + 1;
      difference.node = node;
      difference.op = verified.op;
      difference.output = verified.output;
      difference.shape = verified.shape;
      change(verified, difference, i);
      result.trace->nodes.push_back(
          {node, "Conv", {verified.output}, {100, 50 + static_cast<std::int64_t>(i)}});
      result.trace->tensors.push_back({verified.output, tensor});
      result.verification->layers.push_back(verified);
      if (compared) result.comparison->layers.push_back(difference);
    }
    return result;
  };
  view.left = add("pc/strict", false);
  for (std::size_t r = 0; r < rights; ++r)
    view.right.push_back(add("host" + std::to_string(r) + "/fast", true));
  return view;
}

/// The first layer with this output; null when there is none.
template <class Layer>
const Layer* found(const std::vector<Layer>& layers, const std::string& output) {
  const auto place = std::ranges::find(layers, output, &Layer::output);
  return place == layers.end() ? nullptr : &*place;
}

/// Outputs that any comparison has.
std::set<std::string> compared_outputs(const ComparisonView& view) {
  std::set<std::string> outputs;
  for (const TargetResult& right : view.right)
    for (const LayerDifference& layer : right.comparison->layers) outputs.insert(layer.output);
  return outputs;
}

void differing(LayerVerdict& verified, LayerDifference& difference, std::size_t i) {
  difference.metrics = {1e-6, 1e-6, 3, 1e-7, 1.0, 120.0 - static_cast<double>(i % 50), 7, 9, 0, 0};
  verified.metrics = difference.metrics;
}

/// "" when every tag is closed in order; else the first that is not. Void elements of HTML need no end tag.
std::string unbalanced(const std::string& html) {
  std::vector<std::string> open;
  for (std::size_t at = html.find('<'); at != std::string::npos; at = html.find('<', at + 1)) {
    const std::size_t end = html.find('>', at);
    if (end == std::string::npos) return "a tag without end";
    std::string tag = html.substr(at + 1, end - at - 1);
    if (tag.starts_with('!') || tag.ends_with('/')) continue;
    const bool closes = tag.starts_with('/');
    if (closes) tag.erase(0, 1);
    tag = tag.substr(0, tag.find(' '));
    if (tag == "style") {
      at = html.find("</style>", end);
      continue;
    }
    if (tag == "meta" || tag == "img" || tag == "br") continue;
    if (!closes) {
      open.push_back(tag);
    } else if (open.empty() || open.back() != tag) {
      return "</" + tag + "> in <" + (open.empty() ? "nothing" : open.back()) + ">";
    } else {
      open.pop_back();
    }
  }
  return open.empty() ? "" : open.back() + " is not closed";
}

Tensor ramp(Shape shape) {
  std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 13) - 5.0f;
  return tensor<float>(std::move(shape), values);
}

}  // namespace

TEST_CASE("Report_HasEverySectionThatABugReportNeeds_AndNothingFromElsewhere") {
  ComparisonView view = made_view(5, 2, "conv", &differing, ramp({1, 2, 4, 4}));
  view.right[1].verification->layers[2].verdict = Verdict::fault;
  view.right[1].verification->layers[2].budget_used = 731;
  view.right[1].verification->first_fault = "conv2";
  const std::string html = comparison_report(view);
  CHECK(unbalanced(html) == "");
  for (const char* part :
       {"Answers side by side", "Worst layers", "data:image/bmp;base64,", "Environment", "How to reproduce",
        "driftscope compare net.onnx --input seed:42", "abc.def", "first fault: conv2", "@media print",
        "prefers-color-scheme:dark", "731 × the rounding budget"}) {
    CAPTURE(part);
    CHECK(holds(html, part));
  }
  CHECK(!holds(html, "<script"));
  CHECK(!holds(html, "http:"));
  CHECK(!holds(html, "https:"));
  CHECK(!holds(html, "Left out"));
  CHECK(holds(html, view.model_sha256));
}

TEST_CASE("Report_OfAHugeModel_StaysBelowTwoMegabytesAndSaysWhatIsMissing" * doctest::test_suite("large")) {
  const std::size_t layers = repetitions(100'000);
  ComparisonView view = made_view(layers, 3, std::string(100, 'n'), &differing, ramp({1, 3, 64, 64}));
  view.right[2].verification->layers[layers - 7].verdict = Verdict::fault;
  view.right[2].verification->first_fault = view.right[2].verification->layers[layers - 7].node;
  const std::string html = comparison_report(view);
  CHECK(html.size() < two_megabytes);
  CHECK(html.size() > 500'000);  // the budget is used
  CHECK(unbalanced(html) == "");
  CHECK(holds(html, "Left out"));
  CHECK(holds(html, "less important layers"));
  CHECK(holds(html, "fault-row"));
  CHECK(holds(html, "Each point is the worst of"));
}

TEST_CASE("Report_OfManyTargetsWithLongErrors_StaysBelowTwoMegabytes") {
  ComparisonView view = made_view(50, 200, "conv", &differing, ramp({1, 1, 96, 96}));
  for (TargetResult& right : view.right) {
    right.error = io_error(std::string(100'000, 'x'));
    right.trace->run = "{\"user_agent\":\"" + std::string(50'000, 'u') + "\"}";
    right.target += std::string(10'000, 't');
  }
  view.command = std::string(1'000'000, 'c');
  view.class_names = std::vector<std::string>(10, std::string(100'000, 'k'));
  const std::string html = comparison_report(view);
  CHECK(html.size() < two_megabytes);
  CHECK(unbalanced(html) == "");
  CHECK(holds(html, "targets."));
}

TEST_CASE("Report_HostileNames_AreText") {
  const std::string name = "\"><script>alert(1)</script>\x1b[2J\xff";
  ComparisonView view = made_view(3, 1, name, &differing, ramp({4}));
  view.model_name = view.input_text = view.input_label = view.command = view.dataset_text = name;
  view.left.target = name;
  view.class_names = {name};
  view.left.trace->run = R"({"<b>":"<i>","options":{"a":"</td>"}})";
  const std::string html = comparison_report(view);
  CHECK(!holds(html, "<script"));
  CHECK(!holds(html, "\x1b"));
  CHECK(!holds(html, "<b>\""));
  CHECK(valid_utf8(html));
  CHECK(unbalanced(html) == "");
}

TEST_CASE("Report_NaNAndInfinityEverywhere_IsWhole") {
  const double inf = INFINITY;
  const Tensor odd =
      tensor<float>({1, 1, 2, 2}, {NAN, static_cast<float>(inf), -static_cast<float>(inf), NAN});
  const ComparisonView view = made_view(
      4, 2, "n",
      [&](LayerVerdict& verified, LayerDifference& difference, std::size_t i) {
        verified.verdict = i == 1 ? Verdict::suspect : Verdict::fault;
        verified.budget_used = i % 2 == 0 ? NAN : inf;
        difference.metrics = {inf, inf, inf, NAN, NAN, -inf, 4, 4, 4, 4};
        verified.metrics = difference.metrics;
      },
      odd);
  const std::string html = comparison_report(view);
  CHECK(unbalanced(html) == "");
  CHECK(holds(html, "elements are NaN or infinite (<i class=\"swatch nan\"></i> NaN"));
  CHECK(!holds(html, "cx=\"nan"));
  CHECK(!holds(html, "y1=\"nan"));
  CHECK(!holds(html, "inf\" "));
  CHECK(!compare_table(view).empty());
}

TEST_CASE("Report_ZeroSizedTensorsOrNothingAtAll_IsWhole") {
  const ComparisonView view = made_view(2, 1, "n", &differing, tensor<float>({0, 3}, {}));
  const std::string html = comparison_report(view);
  CHECK(unbalanced(html) == "");
  CHECK(!holds(html, "data:image"));
  ComparisonView nothing;
  nothing.left.error = missing_error("no browser");
  const std::string empty = comparison_report(nothing);
  CHECK(unbalanced(empty) == "");
  CHECK(holds(empty, "no browser"));
}

TEST_CASE("CompareTable_BudgetOfALayer_IsThatOfTheWorstTarget") {
  ComparisonView view = made_view(3, 2, "conv", &differing, ramp({1, 2, 4, 4}));
  view.right[0].verification->layers[1].budget_used = 0.715;
  view.right[1].verification->layers[1].budget_used = 0.214;
  const std::string table = compare_table(view);
  CHECK(holds(table, "0.715"));
  CHECK(!holds(table, "0.214"));
}

TEST_CASE("RankOf_FaultsComeBeforeSuspectsBeforeDifferences") {
  ComparisonView view = made_view(5, 2, "n", &differing, ramp({4}));
  view.right[0].comparison->first_divergence = "n1";
  view.right[1].verification->layers[3].verdict = Verdict::suspect;
  view.right[1].verification->layers[4].verdict = Verdict::fault;
  view.right[0].comparison->layers[0].metrics = view.right[1].comparison->layers[0].metrics = {};
  const LayerTable layers(view);
  CHECK(rank_of(layers, 0).tier == 0);
  CHECK(rank_of(layers, 1).tier == 3);
  CHECK(rank_of(layers, 2).tier == own_error_tier);
  CHECK(rank_of(layers, 3).tier == 5);
  CHECK(rank_of(layers, 4).tier == fault_tier);
  CHECK(rank_of(layers, 4).target == 2);
}

TEST_CASE("LayerTable_OfPartlyRecordedTargets_SaysWhatASearchFinds") {
  const std::uint64_t seed = test_seed(77);
  SEED_INFO(seed);
  Rng rng(seed);
  for (int round = 0; round < repetitions(50); ++round) {
    ComparisonView view = made_view(
        12, 3, "n",
        [&](LayerVerdict& verified, LayerDifference& difference, std::size_t) {
          verified.verdict = verdict_rows[rng.below(verdict_rows.size())].verdict;
          difference.metrics.different_elements = static_cast<std::int64_t>(rng.below(2));
          if (rng.below(5) == 0) difference.reason = "another shape";
        },
        ramp({4}));
    for (TargetResult& right : view.right) {
      std::erase_if(right.comparison->layers, [&](const auto&) { return rng.below(4) == 0; });
      std::erase_if(right.verification->layers, [&](const auto&) { return rng.below(4) == 0; });
      std::erase_if(right.trace->tensors, [&](const auto&) { return rng.below(4) == 0; });
    }
    const LayerTable layers(view);
    REQUIRE(layers.rows().size() == compared_outputs(view).size());
    for (std::size_t row = 0; row < layers.rows().size(); ++row)
      for (std::size_t t = 1; t < layers.targets().size(); ++t) {
        const ResultCell cell = layers.cell(row, t);
        const TargetResult& target = *layers.targets()[t];
        const std::string& output = layers.rows()[row].output;
        const auto* difference = found(target.comparison->layers, output);
        const auto* verified = found(target.verification->layers, output);
        CHECK((cell.compared || cell.mismatch) == (difference != nullptr));
        CHECK(layers.verified(row, t) == verified);
        CHECK((layers.tensor(row, t) != nullptr) == (target.trace->find(output) != nullptr));
        CHECK(cell.inherited ==
              (difference != nullptr && verified != nullptr && verified->verdict == Verdict::identical &&
               difference->metrics.different_elements > 0));
        CHECK(cell.verdict == (difference != nullptr ? combined_verdict(*difference, verified)
                               : verified != nullptr ? verified->verdict
                                                     : Verdict::missing));
      }
  }
}

}  // namespace driftscope::test::report_test
