#include "core/bench/bench_run.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/statistics/trend.hpp"

namespace driftscope {
namespace {

// A reading that is a hundred steps of the clock long is off by at most 1 %.
constexpr double steps_per_reading = 100.0;
constexpr double max_slice_ms = 30.0;
// At least this many rounds should fit into the time, or the interval rests on too few values.
constexpr double wanted_rounds = 12.0;
// Testing for the wanted precision after every round would stop on luck; no test before this many.
constexpr std::size_t min_rounds = 10;
constexpr std::int64_t max_inner = 1'000'000;

double time_of(const Slice& slice, std::int64_t inner) {
  double sum = 0.0;
  for (const double time : slice.times_ns) sum += time;
  return sum * static_cast<double>(inner);
}

/// One subject while it is measured.
class Participant {
 public:
  Participant(BenchSubject& subject, const BenchLimits& limits) : subject_(subject), limits_(limits) {}

  [[nodiscard]] bool active() const { return !done_; }
  [[nodiscard]] const BenchSeries& series() const { return series_; }
  [[nodiscard]] double share() const { return std::min(1.0, used_ns_ / (limits_.seconds * 1e9)); }
  [[nodiscard]] double warm_up_share() const {
    return std::min(1.0, warm_up_ns_ / (limits_.warm_up_seconds * 1e9));
  }

  /// One slice of warm-up; returns whether more is needed.
  [[nodiscard]] bool warm_up() {
    const auto slice = measure(0, true);
    if (!slice) return false;
    warm_up_ns_ += time_of(*slice, series_.inner);
    series_.warm_up_runs += std::ssize(slice->times_ns) * series_.inner;
    warm_up_medians_.push_back(median(slice->times_ns));
    choose_inner(*slice);
    series_.steady = is_steady(warm_up_medians_);
    return !series_.steady && warm_up_ns_ < limits_.warm_up_seconds * 1e9;
  }

  void settle() { subject_.settle(); }

  void take_turn() {
    // The first reading pays for the caches that the other subjects filled; it is not kept.
    const auto unkept = measure(series_.inner, false);
    if (!unkept) return;
    auto slice = measure(limits_.max_runs > 0 ? limits_.max_runs - runs_ : 0, false);
    if (!slice) return;
    slice->unkept = std::ssize(unkept->times_ns);
    slice->inner = series_.inner;
    used_ns_ += time_of(*slice, series_.inner);
    runs_ += std::ssize(slice->times_ns) * series_.inner;
    medians_.push_back(median(slice->times_ns));
    series_.rounds.push_back(*slice);
  }

  [[nodiscard]] bool precise() const {
    if (medians_.size() < min_rounds) return false;
    const auto interval = median_interval(medians_, limits_.confidence);
    const double middle = median(medians_);
    return interval && interval->high - middle <= limits_.precision * middle &&
           middle - interval->low <= limits_.precision * middle;
  }
  [[nodiscard]] bool out_of_time() const { return used_ns_ >= limits_.seconds * 1e9; }
  [[nodiscard]] bool out_of_runs() const { return limits_.max_runs > 0 && runs_ >= limits_.max_runs; }

  void finish(BenchEnd end) {
    series_.end = end;
    done_ = true;
  }
  void rest() { subject_.rest(); }

 private:
  [[nodiscard]] std::optional<Slice> measure(std::int64_t max_runs, bool warm_up) {
    SliceRequest request;
    request.warm_up = warm_up;
    request.inner = series_.inner;
    request.slice_ms = std::clamp(limits_.seconds * 1e3 / wanted_rounds, 1.0, max_slice_ms);
    request.max_runs = max_runs;
    auto slice = subject_.measure(request);
    if (slice.ok() && slice->times_ns.empty())
      slice = internal_error("a slice was measured without a single run");
    if (slice.ok()) return *std::move(slice);
    series_.error = std::move(slice).error();
    finish(series_.error->kind == ErrorKind::cancelled ? BenchEnd::stopped : BenchEnd::failed);
    return std::nullopt;
  }

  /// As many runs as make a reading long enough even at the speed of the fastest slice: during warm-up
  /// runs become faster, and a busy moment makes some look long.
  void choose_inner(const Slice& slice) {
    // A reading of zero clock steps stands for a time of up to one step.
    fastest_ns_ = std::min(fastest_ns_, std::max(median(slice.times_ns), subject_.clock_ns() / 2));
    const double runs = std::ceil(steps_per_reading * subject_.clock_ns() / fastest_ns_);
    series_.inner = std::clamp(static_cast<std::int64_t>(std::min(runs, 1e9)), std::int64_t{1},
                               limits_.max_runs > 0 ? std::min(limits_.max_runs, max_inner) : max_inner);
  }

  BenchSubject& subject_;
  const BenchLimits& limits_;
  BenchSeries series_;
  std::vector<double> warm_up_medians_;
  std::vector<double> medians_;  // of the rounds
  double fastest_ns_ = std::numeric_limits<double>::max();
  double warm_up_ns_ = 0.0;
  double used_ns_ = 0.0;
  std::int64_t runs_ = 0;
  bool done_ = false;
};

}  // namespace

std::vector<BenchSeries> run_bench(std::span<BenchSubject* const> subjects, const BenchLimits& limits,
                                   const std::function<bool()>& stop, const BenchProgress& progress) {
  std::vector<Participant> all;
  for (BenchSubject* subject : subjects) all.emplace_back(*subject, limits);

  for (std::size_t i = 0; i < all.size(); ++i) {
    do {
      if (stop()) break;
      progress("warming up", i, all[i].warm_up_share());
    } while (all[i].warm_up());
    if (all.size() > 1) all[i].settle();
  }
  const auto any_active = [&] {
    return std::ranges::any_of(all, [](const Participant& one) { return one.active(); });
  };
  for (std::size_t round = 0; any_active() && !stop(); ++round) {
    // Each round starts with the next subject: none is always the first after the pause between rounds.
    for (std::size_t turn = 0; turn < all.size() && !stop(); ++turn) {
      const std::size_t i = (round + turn) % all.size();
      if (!all[i].active()) continue;
      progress("measuring", i, all[i].share());
      all[i].take_turn();
      if (all.size() > 1) all[i].settle();
    }
    for (Participant& one : all)
      if (one.active() && one.out_of_runs()) one.finish(BenchEnd::runs);
    // Precise subjects go on beside the others, so that every pair shares all its rounds.
    const bool all_precise =
        std::ranges::all_of(all, [](const Participant& one) { return !one.active() || one.precise(); });
    for (Participant& one : all) {
      if (!one.active()) continue;
      if (one.precise() && (all_precise || one.out_of_time()))
        one.finish(BenchEnd::precise);
      else if (one.out_of_time())
        one.finish(BenchEnd::time);
    }
    for (Participant& one : all)
      if (one.active()) one.rest();
  }
  std::vector<BenchSeries> all_series;
  for (const Participant& one : all) all_series.push_back(one.series());
  return all_series;
}

void add_launch(BenchSeries& all, BenchSeries launch) {
  const std::int64_t number = all.rounds.empty() ? 0 : all.rounds.back().launch + 1;
  const bool first = all.rounds.empty() && !all.error;
  for (Slice& round : launch.rounds) {
    round.launch = number;
    all.rounds.push_back(std::move(round));
  }
  all.inner = launch.inner;
  all.warm_up_runs += launch.warm_up_runs;
  all.steady = launch.steady && (first || all.steady);
  if (first || all.end == BenchEnd::precise) all.end = launch.end;
  if (!all.error) all.error = std::move(launch.error);
}

BenchSeries series_of_launch(const BenchSeries& series, std::int64_t launch) {
  BenchSeries one = series;
  std::erase_if(one.rounds, [&](const Slice& round) { return round.launch != launch; });
  return one;
}

std::vector<double> round_medians(const BenchSeries& series) {
  std::vector<double> medians;
  for (const Slice& slice : series.rounds) medians.push_back(median(slice.times_ns));
  return medians;
}

std::vector<double> all_times(const BenchSeries& series) {
  std::vector<double> times;
  for (const Slice& slice : series.rounds)
    times.insert(times.end(), slice.times_ns.begin(), slice.times_ns.end());
  return times;
}

std::optional<Estimate> median_time(const BenchSeries& series, double confidence) {
  if (series.rounds.empty()) return std::nullopt;
  Estimate estimate{median(all_times(series))};
  estimate.interval = median_interval(round_medians(series), confidence);
  if (estimate.interval) {
    estimate.interval->low = std::min(estimate.interval->low, estimate.value);
    estimate.interval->high = std::max(estimate.interval->high, estimate.value);
  }
  return estimate;
}

}  // namespace driftscope
