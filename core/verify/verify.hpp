// Judges a trace: is each layer's result what float32 rounding of its own recorded inputs explains?
// Needs only a graph and a trace, whichever runtime made it. Clients: compare, the command line,
// views. Method: docs/design.md, "Verify: bug or rounding".
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/graph/graph.hpp"
#include "core/trace/repeat_check.hpp"
#include "core/trace/trace_view.hpp"

namespace driftscope {

class ThreadPool;

/// In order of severity. unjudged: within an inconclusive budget (judgeable.hpp), so never a pass;
/// missing: there was nothing to compare.
enum class Verdict { identical, rounding, unjudged, suspect, fault, missing };
/// All of them, in that order.
inline constexpr std::array<Verdict, 6> all_verdicts = {Verdict::identical, Verdict::rounding,
                                                        Verdict::unjudged,  Verdict::suspect,
                                                        Verdict::fault,     Verdict::missing};
[[nodiscard]] std::string_view verdict_name(Verdict verdict);

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
  /// Preceding nodes that were not recorded and were evaluated together with this one.
  std::vector<std::string> group;
  /// Why missing or unjudged, why a fault that is not a number (shape, dtype, NaN pattern), or by what a
  /// group was judged.
  std::string reason;
  std::optional<ExternalBudget> external;
};

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

struct Verification {
  std::string model_sha256;
  std::string target;
  Verdict verdict = Verdict::missing;
  std::optional<std::string> first_fault;  ///< node name, in topological order
  std::vector<LayerVerdict> layers;
  std::string budgets;  ///< the suite of the layers' external budgets; empty: none was asked for
  /// The verdict is that of a later run's layer where this is worse than any of the layers above.
  std::optional<RepeatVerification> repeats = {};
};

/// How many layers have this verdict.
[[nodiscard]] std::int64_t count_layers(const Verification& verification, Verdict verdict);

/// Checks that a trace is of this model, as far as both say: otherwise an error that names both hashes.
[[nodiscard]] Status expect_model(const std::string& model_sha256, const Trace& about);

/// Called with the number of layers verified so far and in all; returning false stops with a cancelled error.
using VerifyProgress = std::function<bool(std::int64_t done, std::int64_t total)>;

/// A layer for every output of a node that the trace holds, in topological order. A node that cannot
/// be evaluated (an operator that this build does not know, an input of the wrong shape) gives a
/// missing layer with the reason.
/// Errors: the trace holds another model (sha differs), an input of the graph that is needed is absent
/// or does not fit the graph, nothing could be compared.
[[nodiscard]] Result<Verification> verify(const Graph& graph, const std::string& model_sha256,
                                          const Trace& trace, ThreadPool& threads,
                                          const VerifyProgress& progress = {});

/// The same with the tensors of one node in memory at a time.
[[nodiscard]] Result<Verification> verify(const Graph& graph, const std::string& model_sha256,
                                          const TraceView& trace, ThreadPool& threads,
                                          const VerifyProgress& progress = {});

/// Whether the runs of a recording agree, and which are right, without the other layers; nothing where the
/// trace does not say.
[[nodiscard]] Result<std::optional<RepeatVerification>> verify_repeats(const Graph& graph,
                                                                       const TraceView& trace,
                                                                       ThreadPool& threads);

}  // namespace driftscope
