#include "core/numerics/moments.hpp"

#include "core/numerics/variance_witness.hpp"

namespace driftscope {
namespace {

using Which = double Bounded::*;
constexpr Which all_bounds[] = {&Bounded::worst, &Bounded::likely, &Bounded::systematic};

// Σ(x − mean)² with the mean off by δ is Σd² + n·δ² exactly: the deviations cancel. Each deviation is
// rounded once, which its square shows twice.
Bounded squares_in_two_passes(std::span<const Bounded> lane, const Bounded& mean) {
  Sum<Bounded> sum;
  double errors = 0.0;  // Σ of the errors of the elements
  for (const Bounded& x : lane) {
    const Bounded deviation = {x.value - mean.value, x.worst, x.likely, x.systematic};
    sum.add_product(deviation, deviation);
    errors += x.worst;
  }
  sum.round_once_more();
  sum.round_once_more();
  Bounded squares = sum.result();
  const double n = static_cast<double>(lane.size());
  for (const Which which : all_bounds) squares.*which += (n * (mean.*which) + 2.0 * errors) * (mean.*which);
  return squares;
}

// Welford's recurrence loses n·u·√(Σx²·Σd²) (Chan and Lewis 1979), the same again when merging chunks; no
// more than it loses on these very data.
void widen_for_welford(Bounded& squares, std::span<const Bounded> lane, double excused) {
  const ErrorModel& model = current_error_model();
  const double n = static_cast<double>(lane.size());
  double raw = 0.0;
  for (const Bounded& x : lane) raw += x.value * x.value;
  const double scale = 2.0 * model.unit_roundoff * std::sqrt(raw * std::fabs(squares.value));
  if (!std::isfinite(scale)) return;
  const double likely = std::fmin(n, model.lambda(static_cast<std::int64_t>(n)) * std::sqrt(n));
  squares.worst += std::fmin(n * scale, excused * n);
  squares.likely += std::fmin(likely * scale, excused * n);
  squares.systematic += std::fmin(likely * scale, excused * n);
}

}  // namespace

template <>
Moments<Bounded> moments_of<Bounded>(std::span<const Bounded> lane, bool contiguous, Passes passes) {
  const Bounded mean = mean_of(lane, contiguous);
  Bounded squares = squares_in_two_passes(lane, mean);
  const double n = static_cast<double>(lane.size());
  const VarianceExcuses excuses = variance_excuses(lane, mean.value, squares.value / n);
  widen_for_welford(squares, lane, excuses.welford);
  const Bounded weight = Bounded(1.0) / Bounded(n);
  Bounded variance = squares * weight;
  if (passes == Passes::one_or_two) {
    const Bounded one_pass = sum_of_squares(lane, contiguous) * weight - mean * mean;
    for (const Which which : all_bounds)
      variance.*which = std::fmax(variance.*which, std::fmin(one_pass.*which, excuses.one_pass));
    // If Σx² overflows, so does one pass: then nothing is known.
    if (!std::isfinite(one_pass.value) || std::isinf(one_pass.worst))
      variance.worst = std::numeric_limits<double>::infinity();
  }
  return {mean, variance};
}

}  // namespace driftscope
