// What a verification says: of a layer, of two runs, of the whole trace. Clients: verify, which makes it;
// results, report, checks and the screens, which show it.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/tensor.hpp"
#include "core/trace/repeat_check.hpp"
#include "core/verify/explanation.hpp"
#include "core/verify/finding.hpp"
#include "core/verify/verdict.hpp"

namespace driftscope {

/// The element furthest beyond its budget, relative to it.
struct WorstElement {
  std::vector<std::int64_t> index;
  double got = 0.0;
  double want = 0.0;
  double budget = 0.0;  ///< worst-case budget, absolute
};

/// How two tensors differ; got is the tensor under test, want the reference.
struct Metrics {
  double max_abs = 0.0;
  double max_rel = 0.0;
  double max_ulp = 0.0;  ///< in floats of the dtype; ±0 count as 0 apart
  double mean_abs = 0.0;
  double mean_rel = 0.0;
  double cosine = 1.0;
  double sqnr_db = 0.0;                 ///< signal to noise, dB; infinite when equal
  std::int64_t different_elements = 0;  ///< other bits (NaN equals NaN, ±0 differ)
  std::int64_t elements = 0;
  std::int64_t nan = 0;  ///< in got
  std::int64_t inf = 0;
};

enum class BudgetMetric { ulp, absolute };
[[nodiscard]] constexpr std::string_view budget_metric_name(BudgetMetric metric) {
  return metric == BudgetMetric::ulp ? "ulp" : "absolute";
}

/// What a third-party budget says about a layer (external_budgets.hpp).
struct ExternalBudget {
  std::string operators;  ///< in that suite's words: "batchNormalization + gelu"
  BudgetMetric metric = BudgetMetric::ulp;
  double budget = 0.0;
  double seen = 0.0;  ///< the largest error, in that metric
  bool within = false;
};

struct LayerVerdict {
  std::string node;
  std::string op;
  std::string output;  ///< value name
  Shape shape;
  bool constant = false;  ///< of constant_nodes: the same in every run
  Verdict verdict = Verdict::missing;
  double budget_used = 0.0;              ///< largest error ÷ worst-case budget
  double budget_used_statistical = 0.0;  ///< largest error ÷ statistical budget
  /// Mean signed error beyond what rounding can cause, in standard errors (as of a normal
  /// distribution), negative towards zero; 0 where there is none or where it cannot be estimated.
  double mean_signed_z = 0.0;
  Metrics metrics;  ///< against the reference, rounded to the output's dtype
  std::optional<WorstElement> worst;
  /// To first order (answer_sensitivity.hpp); NaN where that was not computed, as for layers on which the
  /// answer does not depend.
  double can_move = std::numeric_limits<double>::quiet_NaN();     ///< the answer, within its budget
  double likely_move = std::numeric_limits<double>::quiet_NaN();  ///< with independent roundings
  double sensitivity = std::numeric_limits<double>::quiet_NaN();  ///< share of the sum of likely_move²
  double moved = std::numeric_limits<double>::quiet_NaN();        ///< by its own error, signed
  /// Preceding nodes that were not recorded and were evaluated together with this one.
  std::vector<std::string> group;
  /// Why it has this verdict, where the budget alone does not say.
  std::vector<Finding> findings;
  std::optional<ExternalBudget> external;
  std::optional<LayerExplanation> explanation;  ///< of layers that are suspect or a fault
};

/// The id of the finding that there is no reference, so that nothing of the layer was measured.
inline constexpr std::string_view no_reference = "reference.none";
[[nodiscard]] inline bool was_measured(const LayerVerdict& layer) {
  return layer.verdict != Verdict::missing &&
         (layer.findings.empty() || layer.findings.front().id != no_reference);
}

/// The findings as one sentence; empty without any.
[[nodiscard]] inline std::string reason_of(const LayerVerdict& layer) {
  return findings_text(layer.findings);
}

/// A later run that differs from the one recorded, and what its first differing layer is judged to be in
/// both.
struct JudgedDifference {
  RunDifference difference;
  std::optional<Metrics> metrics = {};  ///< of the later run against the first; absent where shapes differ
  Verdict first = Verdict::missing;
  Verdict later = Verdict::missing;
};

/// Whether the runs of a recording agree, where they were compared.
struct RepeatVerification {
  RepeatCheck check;
  std::vector<JudgedDifference> different;  ///< as of check.different
};

/// An output of the model that holds NaN or infinity.
struct NonFiniteOutput {
  std::string output;  ///< value name
  std::string node;
  std::string from;  ///< the node where they begin, or the input of the model that has them
  std::int64_t nan = 0;
  std::int64_t inf = 0;
  std::int64_t elements = 0;
};

/// A layer that makes NaN or infinity of finite numbers, or comes near the limit of float16 (overflow.hpp).
struct LayerOverflow {
  std::string node;
  std::string op;
  std::string output;  ///< value name
  std::string dtype;
  std::int64_t nan = 0;
  std::int64_t inf = 0;
  std::int64_t elements = 0;
  double largest = 0.0;  ///< of the finite magnitudes, of float16
};

/// How far rounding moves what the model answers: predicted from all layers' budgets, to first order, and
/// seen.
struct AnswerMove {
  std::string answer;      ///< which number: "the lead of class 7 over class 3"
  double exact = 0.0;      ///< the number itself, without rounding
  double worst = 0.0;      ///< the sum over the layers' budgets
  double likely = 0.0;     ///< of independent roundings
  double explained = 0.0;  ///< the sum of what the layers' own errors have moved
  double seen = std::numeric_limits<double>::quiet_NaN();  ///< NaN: the target did not record it
  std::int64_t layers = 0;
  std::int64_t unbounded = 0;  ///< layers without a finite budget, which are in no sum
  std::string left_out;        ///< why it was not computed, or not compared with the run; empty: it was
};

struct Verification {
  std::string model_sha256;
  std::string target;
  Verdict verdict = Verdict::missing;
  std::optional<std::string> first_fault;  ///< node name, in topological order
  std::vector<LayerVerdict> layers;
  std::vector<NonFiniteOutput> nonfinite = {};  ///< as nonfinite_outputs says
  std::vector<LayerOverflow> overflows = {};    ///< as layer_overflows says
  std::vector<std::string> notes = {};          ///< on the model, for documents of their own; usually empty
  std::string budgets;     ///< the suite of the layers' external budgets; empty: none was asked for
  std::string names = {};  ///< how values were matched by other names (name_match_text); usually empty
  /// The verdict is that of a later run's layer where this is worse than any of the layers above.
  std::optional<RepeatVerification> repeats = {};
  std::optional<AnswerMove> answer = {};      ///< where it was asked for
  std::optional<CausalSummary> matters = {};  ///< where it was asked for
};

}  // namespace driftscope
