// The bench itself: warm-up until steady, then rounds in which the subjects take turns (A B A B …), until
// every median is known well enough. A turn begins with a reading that is dropped: it finds the caches full
// of the other subjects' data. Clients: the bench command, tests with subjects that compute nothing. It
// starts no process and reads no clock: subjects measure, it decides.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/statistics/statistics.hpp"

namespace driftscope {

/// What a subject is asked for in its turn.
struct SliceRequest {
  double slice_ms = 30.0;     ///< goes on until this time has passed; at least one reading
  std::int64_t inner = 1;     ///< runs between two readings of the clock
  std::int64_t max_runs = 0;  ///< 0: as many as fit
  bool warm_up = false;       ///< the times are not kept: memory may be traced meanwhile
};

struct Slice {
  std::vector<double> times_ns;    ///< one per reading: its time ÷ inner
  std::int64_t alive_tensors = 0;  ///< after the last run: tensors that still exist, their bytes,
  std::int64_t alive_bytes = 0;    ///< and all bytes that are allocated on the heap
  std::int64_t heap_bytes = 0;     ///< (0: not known)
  std::int64_t engine_bytes = 0;   ///< what the engine says of its own memory; 0: nothing
  std::string engine_kind = {};    ///< what that is: "ort_wasm_heap", "gpu_objects"
  std::int64_t unkept = 0;         ///< readings of the same turn before these, which are not kept
  std::int64_t inner = 1;          ///< runs of each reading, kept or not
  std::int64_t launch = 0;         ///< of which processes: a bench may start a target several times
};

/// One target with one model, loaded and prepared.
class BenchSubject {
 public:
  virtual ~BenchSubject() = default;
  /// Smallest step that the subject's clock can take, ns.
  [[nodiscard]] virtual double clock_ns() const = 0;
  [[nodiscard]] virtual Result<Slice> measure(const SliceRequest& request) = 0;
  /// After its turn: returns once it waits for the next one without computing. Threads of some runtimes spin
  /// for a while, and would take a processor from whoever is next.
  virtual void settle() {}
  /// Between rounds, while no subject computes: time to sample the memory.
  virtual void rest() {}
};

struct BenchLimits {
  double confidence = 0.95;
  double precision = 0.02;       ///< wanted: the interval of the median within ± this share of it
  double seconds = 10.0;         ///< of measuring, per subject; a run under way is not broken off
  double warm_up_seconds = 5.0;  ///< at most, per subject
  std::int64_t max_runs = 0;     ///< per subject; 0: no limit
};

/// Why a subject's measuring ended.
enum class BenchEnd { precise, time, runs, failed, stopped };

/// The measurements of one subject.
struct BenchSeries {
  std::int64_t inner = 1;
  std::int64_t warm_up_runs = 0;
  bool steady = false;        ///< whether warm-up ended before its limit
  std::vector<Slice> rounds;  ///< in the order of the rounds, which subjects share
  BenchEnd end = BenchEnd::stopped;
  std::optional<Error> error;  ///< what ended it; rounds that came before are kept
};

/// Called before each slice: "warming up" or "measuring", the subject, and the share of its time used.
using BenchProgress = std::function<void(std::string_view step, std::size_t subject, double share)>;

/// One series per subject, in their order. `stop` is called before each slice.
[[nodiscard]] std::vector<BenchSeries> run_bench(std::span<BenchSubject* const> subjects,
                                                 const BenchLimits& limits, const std::function<bool()>& stop,
                                                 const BenchProgress& progress);

/// The rounds of another launch of the same target, behind those so far. Warm-up is steady where it always
/// was; the end is the one that came before precision, if any.
void add_launch(BenchSeries& all, BenchSeries launch);

/// The rounds of one launch.
[[nodiscard]] BenchSeries series_of_launch(const BenchSeries& series, std::int64_t launch);

/// The median of each round.
[[nodiscard]] std::vector<double> round_medians(const BenchSeries& series);

/// All times of all rounds.
[[nodiscard]] std::vector<double> all_times(const BenchSeries& series);

/// The median of all times. Its interval is that of the medians of the rounds, widened to hold the
/// median itself: times of one slice are not independent samples. Nothing before the first round.
[[nodiscard]] std::optional<Estimate> median_time(const BenchSeries& series, double confidence);

}  // namespace driftscope
