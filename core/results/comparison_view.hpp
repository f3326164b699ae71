// All results of one `compare`, as one immutable value: the table, the JSON and the report are
// functions of it. Clients: command line (fills it), compare_table, report.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/results/run_times.hpp"
#include "core/trace/trace.hpp"
#include "core/verify/compare.hpp"

namespace driftscope {

/// Predictions of one target over a data set.
struct DatasetResult {
  std::int64_t samples = 0;
  std::int64_t correct = -1;              ///< −1 when there are no labels
  std::vector<std::int64_t> predictions;  ///< top-1 class of each sample; earlier versions stored none
  std::int64_t agrees_with_left = -1;     ///< as read from a document; −1: absent
};

/// One target: its recording, or the error.
struct TargetResult {
  std::string target;
  /// As read from a document: what ran and the peak of memory, without tensors and nodes.
  std::optional<Trace> trace;
  std::optional<Verification> verification;
  std::optional<Comparison> comparison;  ///< with the left target; absent for the left one
  std::optional<DatasetResult> dataset;
  std::optional<RunTime> stored_time = {};  ///< as read from a document
  std::optional<Error> error;
};

struct ComparisonView {
  std::string model_name;  ///< file name
  std::string model_sha256;
  std::string input_text;   ///< how the input was named: "idx:digits.idx3-ubyte#7", "seed:42"
  std::string input_label;  ///< the class it belongs to, when known
  std::string dataset_text;
  std::string command;         ///< how to run this again
  std::string build;           ///< of the program that compared
  std::string machine = "{}";  ///< where it ran: JSON text, as a bench has it
  std::vector<std::string> class_names;
  std::vector<std::string> notes = {};  ///< on the model (note_lines): what runtimes let pass in it
  TargetResult left;
  std::vector<TargetResult> right;
  std::string gate;  ///< result of the checks (checks_json); empty where none were made
};

/// Whether anything is known of a run. Verifications, and comparisons of earlier versions, do not say what
/// ran: they have no trace.
[[nodiscard]] inline bool did_run(const TargetResult& result) {
  return result.trace || result.verification || result.comparison;
}

/// What ran, in one line: "Chromium 156.0 · wasm SIMD128 · 2 threads · isolated".
[[nodiscard]] std::string run_text(const Trace& trace);

/// "chrome" of "chrome/strict:threads=2".
[[nodiscard]] std::string short_target(const std::string& target, const ComparisonView& view);

/// As stored, else that of the trace; without one the sum of the layers that were compared.
[[nodiscard]] RunTime run_time(const TargetResult& result);

/// Largest memory sample of the best available kind (process tree before heap), and its kind.
[[nodiscard]] MemoryRecord peak_memory(const Trace& trace);

/// What else is to be said of a target that ran, a line each: outputs with NaN or infinity, whether its
/// runs agree, whether capturing changed anything, how values were matched by other names.
[[nodiscard]] std::vector<std::string> target_notes(const TargetResult& target);

/// Whether the largest elements of the first output are worth showing: it is not known to be boxes or
/// numbers.
[[nodiscard]] bool has_classes(const ComparisonView& view);

/// The same symbol for the same verdict everywhere: "= identical", "~ rounding", "○ unjudged", "? suspect",
/// "✗ fault", "· missing".
[[nodiscard]] std::string verdict_text(Verdict verdict);

/// Verdict of one layer in a comparison, from its difference from the left trace and verify's result
/// (null: none): verify's verdict when unjudged or worse; identical when no bit differs; rounding
/// when the layer itself is exact but its inputs differ; else verify's verdict.
[[nodiscard]] Verdict combined_verdict(const LayerDifference& difference, const LayerVerdict* verified);

/// Number of samples for which a target predicts the same class as the left one; −1: not known.
[[nodiscard]] std::int64_t agreement(const DatasetResult& left, const DatasetResult& target);

/// One sentence about all of it (headline.hpp).
[[nodiscard]] std::string headline(const ComparisonView& view);

}  // namespace driftscope
