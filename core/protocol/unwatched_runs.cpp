#include "core/protocol/unwatched_runs.hpp"

#include <algorithm>
#include <cmath>

#include "core/statistics/statistics.hpp"
#include "core/statistics/trend.hpp"

namespace driftscope {
namespace {

constexpr double slice_ns = 20e6;
// A reading that is a hundred steps of the clock long is off by at most 1 %.
constexpr double steps_per_reading = 100.0;
constexpr double max_inner = 1e6;
// Warming up may take this share of the budget.
constexpr double warm_up_share = 0.5;
constexpr std::size_t min_readings = 8;
constexpr double confidence = 0.95;
constexpr double precision = 0.02;

}  // namespace

Status UnwatchedRuns::prepare(LoadedModel& model, StartRequest start) {
  start.traced = false;
  start.record = {.capture = Capture::outputs};
  DRIFTSCOPE_TRY(measurement_, Measurement::prepare(model, std::move(start), nullptr));
  clock_ns_ = measurement_->describe().clock_ns;
  return {};
}

void UnwatchedRuns::add_to(Trace& trace) {
  RunTimes times = run_times_of(trace).value_or(RunTimes());
  times.unwatched = std::move(times_);
  set_run_times(trace, times);
}

Status UnwatchedRuns::failed(Trace& trace, const Error& error) {
  set_unwatched_error(trace, error.message);
  return {};
}

MeasureRequest UnwatchedRuns::next_slice() const {
  if (times_.runs == 0) return {.slice_ns = 0, .inner = 1, .max_runs = 1};
  return {.slice_ns = static_cast<std::int64_t>(std::min(slice_ns, budget_ns_ / 10)), .inner = inner_};
}

void UnwatchedRuns::choose_inner(double run_ns) {
  // A reading of zero steps stands for a time of up to one step.
  const double wanted = std::ceil(steps_per_reading * clock_ns_ / std::max(run_ns, clock_ns_ / 2));
  inner_ = std::max(inner_, static_cast<std::int64_t>(std::clamp(wanted, 1.0, max_inner)));
}

void UnwatchedRuns::add_slice(const messages::MeasureResponse& slice) {
  if (!slice.times_ns || slice.times_ns->empty()) return;
  const std::vector<double>& readings = *slice.times_ns;
  const double middle = median(readings);
  double sum = 0.0;
  for (const double reading : readings) sum += reading * static_cast<double>(times_.runs == 0 ? 1 : inner_);
  const bool first = times_.runs == 0;
  times_.runs += std::ssize(readings) * (first ? 1 : inner_);
  used_ns_ += sum;
  if (first) {
    times_.first_ns = middle;
    choose_inner(middle);
    return;
  }
  if (warm_) {
    times_.readings_ns.push_back(middle);
    return;
  }
  warm_up_.push_back(middle);
  choose_inner(middle);
  warm_ = is_steady(warm_up_) || used_ns_ >= warm_up_share * budget_ns_;
  // Slow models have no time to warm up: the run after the first one is all there is.
  if (used_ns_ >= budget_ns_) times_.readings_ns.push_back(middle);
}

bool UnwatchedRuns::known() const {
  if (times_.readings_ns.empty()) return false;
  if (used_ns_ >= budget_ns_) return true;
  if (times_.readings_ns.size() < min_readings) return false;
  const auto interval = median_interval(times_.readings_ns, confidence);
  const double middle = median(times_.readings_ns);
  return interval && interval->high - interval->low <= 2 * precision * middle;
}

Result<Progress> UnwatchedRuns::poll(std::int64_t budget_ns) {
  const auto total = std::max<std::int64_t>(1, static_cast<std::int64_t>(budget_ns_ * 1e-6));
  Progress progress{0, total};
  if (!done_) {
    DRIFTSCOPE_TRY(const auto slice, measurement_->measure(next_slice(), budget_ns));
    progress.waiting = slice.waiting.value_or(false);
    progress.preparing = slice.preparing;
    progress.prepared = slice.prepared;
    progress.to_prepare = slice.to_prepare;
    if (slice.finished) add_slice(slice);
    done_ = known();
  }
  const auto used = static_cast<std::int64_t>(used_ns_ * 1e-6);
  progress.done = done_ ? total : std::min(used, total - 1);
  return progress;
}

}  // namespace driftscope
