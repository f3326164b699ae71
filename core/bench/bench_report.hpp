// What a bench found, as data: rows, ratios, means. Made by the bench command, read by the views and
// by the history. It measures nothing and prints nothing.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/bench/bench_run.hpp"
#include "core/bench/contrast.hpp"

namespace driftscope {

/// Bytes that came over the network for one target: as sent, and unpacked.
struct Download {
  std::int64_t bytes = 0;
  std::int64_t raw_bytes = 0;
  std::int64_t engine_bytes = 0;  ///< of these: the engine's files (wasm and its modules)
  std::int64_t engine_raw_bytes = 0;
  std::int64_t model_bytes = 0;  ///< the model and its inputs
};

/// What one start of a target's processes took.
struct BenchLaunch {
  double load_ms = 0.0;
  double first_ms = 0.0;
};

/// One combination: model, target, batch, capture.
struct BenchRow {
  std::string model;  ///< "resnet50"
  std::string model_sha256;
  std::string target;     ///< with its threads
  std::string group;      ///< rows of one group are compared: same batch, listed threads, capture
  std::string base_name;  ///< the target as the user named it, without options added by lists
  std::string reference;  ///< measured in this other build, as it was named; empty: in ours
  std::int64_t batch = 1;
  double flop = 0.0;  ///< of the products of one run (count_products); 0: not known
  std::string capture = "none";
  double start_ms = 0.0;  ///< until the process or the page was there
  double load_ms = 0.0;   ///< from there until the first run could begin: engine, model, preparation
  std::map<std::string, double> load_parts;  ///< "compile_ms", "read_ms", "prepare_ms"
  double first_ms = 0.0;
  /// Of a bench with several, one each, in the order of Slice::launch; load_ms and first_ms are their
  /// medians.
  std::vector<BenchLaunch> launches;
  BenchSeries series;
  double clock_ns = 0.0;
  std::int64_t wasm_heap_peak_bytes = 0;  ///< 0: none, or not known
  std::int64_t process_peak_bytes = 0;
  Download download;
  std::string build;           ///< of the program that computes: "1dee943.54ce6dd5"
  std::string ran = "{}";      ///< JSON text
  std::optional<Error> error;  ///< it could not be measured at all

  [[nodiscard]] bool measured() const { return !series.rounds.empty(); }
};

/// The figures reported for a measured row. Times in ns.
struct BenchFigures {
  Estimate median;
  double p95 = 0.0;
  double min = 0.0;
  double mad = 0.0;
  std::int64_t runs = 0;
  double throughput_per_s = 0.0;   ///< samples: batch ÷ median
  double gflop_per_s = 0.0;        ///< 10⁹ operations of products; 0: not known
  std::int64_t alive_tensors = 0;  ///< after the last run
  std::int64_t alive_bytes = 0;
  std::optional<Estimate> alive_slope;  ///< tensors that each further run leaves behind
  std::optional<Estimate> heap_slope;   ///< bytes of heap that each further run leaves behind
};
[[nodiscard]] BenchFigures bench_figures(const BenchRow& row, double confidence);

/// How many times as fast as its base a row is: base's time ÷ its time.
struct BenchRatio {
  std::string model;
  std::string group;
  std::string target;
  std::string base;
  bool untraced = false;  ///< the base is the same target without recording: what recording costs
  Estimate times_as_fast;
};

/// The geometric mean over models of the ratios of one target to one base.
struct BenchMean {
  std::string group;
  std::string target;
  std::string base;
  bool untraced = false;
  std::size_t models = 0;
  Estimate times_as_fast;
};

/// What the difference of two rows is measured in: a run, loading, or the first run.
enum class BenchTime { run, load, first };

/// "run", "load", "first run".
[[nodiscard]] std::string_view bench_time_words(BenchTime time);

/// Whether a row is faster than the reference; over all models where `model` is empty.
struct BenchContrast {
  std::string model;
  std::string group;
  std::string target;
  BenchTime time = BenchTime::run;
  std::size_t models = 1;
  Contrast contrast;
};

struct BenchReport {
  std::string build;               ///< of this program
  std::string machine = "{}";      ///< JSON text
  std::vector<std::string> notes;  ///< what the reader must know: a busy machine, a limit reached
  BenchLimits limits;
  std::string input;  ///< "seed:42 (random)"
  std::vector<BenchRow> rows;
  std::vector<BenchRatio> ratios;
  std::vector<BenchMean> means;
  std::string against;  ///< the reference, a target or another build; empty: none
  std::vector<BenchContrast> contrasts;
};

/// Ratios of every measured row to the measured rows of `bases` (names as in base_name) in its group
/// and of its model, of every recorded row to the same one unrecorded, and their means where there are
/// several models.
void add_ratios(BenchReport& report, const std::vector<std::string>& bases);

/// Every row beside that of BenchReport::against: the same target in the other build, or the target of that
/// name in its group and of its model. Needs rows of several launches. With several models, theirs together
/// as well. All of one kind of time hold together at the confidence of the report (Bonferroni's correction).
void add_contrasts(BenchReport& report);

}  // namespace driftscope
