// Views with everything in them that a document keeps, from a seed. Clients: the tests of writers and
// readers.
#pragma once

#include <cmath>
#include <limits>
#include <string>

#include "core/base/rng.hpp"
#include "core/results/comparison_view.hpp"
#include "core/results/metrics_table.hpp"

namespace driftscope::test {

class ViewGenerator {
 public:
  explicit ViewGenerator(std::uint64_t seed) : rng_(seed) {}

  ComparisonView view() {
    ComparisonView made;
    made.model_name = text();
    made.model_sha256 = text();
    made.input_text = text();
    made.input_label = text();
    made.dataset_text = text();
    made.command = text();
    made.build = text();
    if (chance(2)) made.machine = R"({"cpu":"a cpu","cores":2,"load_1min":0.25,"":[{"layers":[{"a":1}]}]})";
    for (std::uint64_t i = rng_.below(4); i > 0; --i) made.class_names.push_back(text());
    if (chance(2)) made.gate = R"({"fail_on":"fault","passed":true,"checks":3,"failures":[]})";
    made.left = target();
    for (std::uint64_t i = rng_.below(4); i > 0; --i) {
      TargetResult& right = made.right.emplace_back(target());
      if (chance(4)) continue;
      right.comparison = comparison();
      right.comparison->target = right.target;
    }
    return made;
  }

  Verification verification() {
    Verification made;
    made.model_sha256 = text();
    made.target = text();
    made.verdict = verdict();
    if (chance(2)) made.first_fault = text();
    if (chance(2)) made.budgets = "wpt";
    for (std::uint64_t i = rng_.below(5); i > 0; --i) made.layers.push_back(layer_verdict(made.budgets));
    if (std::ranges::none_of(made.layers, [](const auto& one) { return one.external.has_value(); }))
      made.budgets.clear();
    if (chance(3)) made.nonfinite.push_back({text(), text(), text(), whole(), whole(), whole()});
    if (chance(2)) made.repeats = repeats();
    if (chance(3)) made.names = text();
    return made;
  }

 private:
  bool chance(std::uint64_t of) { return rng_.below(of) == 0; }
  Verdict verdict() { return static_cast<Verdict>(rng_.below(verdict_rows.size())); }
  std::int64_t whole() {
    return chance(9) ? std::numeric_limits<std::int64_t>::max() : static_cast<std::int64_t>(rng_.below(1000));
  }
  /// Of runs: as many as documents may have.
  std::int64_t runs() {
    return chance(9) ? std::int64_t{1'000'000'000} : static_cast<std::int64_t>(rng_.below(1000));
  }
  double number() {
    static constexpr double special[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, 5e-324, 0.1, -1e300};
    return chance(2) ? special[rng_.below(std::size(special))] : static_cast<double>(rng_.normal());
  }
  std::string text() {
    static const char* const texts[] = {
        "",       "conv1",       "a \"quote\" and \\", "line\nbreak", "größer ✗", "null", "not \xff UTF-8",
        "layers", "\x01\x1b[31m"};
    return texts[rng_.below(std::size(texts))];
  }
  std::string name(const char* start) { return start + std::to_string(rng_.below(1000)); }
  std::vector<std::int64_t> wholes() {
    std::vector<std::int64_t> made(rng_.below(4));
    for (std::int64_t& one : made) one = whole();
    return made;
  }

  /// As a reader of traces lets in: their sum fits.
  std::vector<std::int64_t> times() {
    std::vector<std::int64_t> made(rng_.below(4));
    for (std::int64_t& one : made) one = static_cast<std::int64_t>(rng_.below(1'000'000'000));
    return made;
  }

  template <class Layer>
  void fill_metrics(Layer& layer) {
    for (const MetricRow& row : metrics_table)
      with_field(row, layer, [&](auto& field) {
        if constexpr (std::is_same_v<std::remove_reference_t<decltype(field)>, double>)
          field = number();
        else
          field = whole();
      });
  }

  Finding finding() {
    static const char* const ids[] = {"precision.rounded_inputs", "values.special", "range.overflow",
                                      "a.later_one", "stored.reason"};
    Finding made{.id = ids[rng_.below(std::size(ids))]};
    for (std::uint64_t i = 0; i < rng_.below(3); ++i)
      made.numbers.emplace_back("n" + std::to_string(i), number());
    for (std::uint64_t i = 0; i < rng_.below(3); ++i)
      made.words.emplace_back("w" + std::to_string(i), text());
    if (chance(2)) made.words.emplace_back("text", text());
    for (std::uint64_t i = rng_.below(3); i > 0; --i) made.elements.push_back(wholes());
    return made;
  }

  LayerVerdict layer_verdict(const std::string& budgets) {
    LayerVerdict made;
    made.node = name("node");
    made.op = text();
    made.output = name("value");
    made.shape = wholes();
    made.constant = chance(2);
    made.verdict = verdict();
    fill_metrics(made);
    if (chance(2)) made.worst = WorstElement{wholes(), number(), number(), number()};
    for (std::uint64_t i = rng_.below(3); i > 0; --i) made.group.push_back(text());
    for (std::uint64_t i = rng_.below(3); i > 0; --i) made.findings.push_back(finding());
    if (!budgets.empty() && chance(2))
      made.external = ExternalBudget{text(), chance(2) ? BudgetMetric::ulp : BudgetMetric::absolute, number(),
                                     number(), chance(2)};
    return made;
  }

  RepeatVerification repeats() {
    RepeatVerification made;
    made.check.runs = runs();
    made.check.values = whole();
    for (std::uint64_t i = rng_.below(3); i > 0; --i) made.check.groups.push_back({runs(), runs(), runs()});
    made.check.more_groups = chance(2) ? runs() : 0;
    for (std::uint64_t i = rng_.below(3); i > 0; --i) {
      JudgedDifference& one = made.different.emplace_back();
      one.difference = {runs(), text(), text(), text(), whole(), chance(2), text()};
      if (chance(2)) fill_metrics(one.metrics.emplace());
      one.first = verdict();
      one.later = verdict();
      made.check.different.push_back(one.difference);
    }
    return made;
  }

  Trace trace() {
    Trace made;
    static const char* const runs[] = {
        "{}", R"({"engine":"fast","options":{"node_times":"by its profiler"},"threads_real":2})",
        R"({"z":1,"a":{"layers":[{"node":"n"}]},"times":{"watched_ns":[5,7],"unwatched":
           {"median_ns":4.5,"first_ns":9.0,"runs":7,"readings_ns":[4.0,5.0]}}})",
        R"({"observer_check":{"changed":true,"different_elements":3,"elements":9,"max_ulp":2.0},
            "matched_by_position":{"count":1,"values":["\"a\" is b"]}})"};
    made.run = runs[rng_.below(std::size(runs))];
    for (std::uint64_t i = rng_.below(3); i > 0; --i)
      made.nodes.push_back({name("node"), "Conv", {name("value")}, times(), false});
    for (std::uint64_t i = rng_.below(3); i > 0; --i)
      made.memory.push_back(
          {static_cast<double>(rng_.normal()), whole(), chance(2) ? "process_pss" : "wasm_heap"});
    return made;
  }

  Comparison comparison() {
    Comparison made;
    if (chance(2)) made.first_divergence = text();
    for (std::uint64_t i = rng_.below(5); i > 0; --i) {
      LayerDifference& layer = made.layers.emplace_back();
      layer.place = 1 + rng_.below(50);
      layer.node = name("node");
      layer.op = text();
      layer.output = name("value");
      layer.shape = wholes();
      layer.constant = chance(2);
      fill_metrics(layer);
      layer.left_ns = static_cast<std::int64_t>(rng_.below(1000));
      layer.right_ns = static_cast<std::int64_t>(rng_.below(1000));
      layer.recorded = chance(2);
      if (chance(2)) layer.reason = chance(2) ? "not recorded on the left" : text();
    }
    made.output = {whole(), whole(), chance(2)};
    if (chance(2)) made.output.kind = static_cast<AnswerKind>(rng_.below(answer_kind_names.size()));
    made.output.answers = whole();
    made.output.different = whole();
    made.peak_bytes = whole();
    made.peak_kind = text();
    return made;
  }

  TargetResult target() {
    TargetResult made;
    made.target = text();
    if (chance(4)) {
      made.error = Error{static_cast<ErrorKind>(rng_.below(7)), text()};
      if (chance(2)) return made;
    }
    if (!chance(4)) made.trace = trace();
    if (!chance(4)) made.verification = verification();
    if (chance(2)) {
      const auto samples = static_cast<std::int64_t>(rng_.below(5));
      made.dataset =
          DatasetResult{.samples = samples, .correct = chance(2) ? -1 : samples, .predictions = {}};
      for (std::int64_t i = 0; i < samples; ++i)
        made.dataset->predictions.push_back(static_cast<std::int64_t>(rng_.below(3)));
    }
    return made;
  }

  Rng rng_;
};

}  // namespace driftscope::test
