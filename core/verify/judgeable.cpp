#include "core/verify/judgeable.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/base/float_bits.hpp"
#include "core/model/tensor_elements.hpp"
#include "core/platform/platform.hpp"

namespace driftscope {
namespace {

constexpr double max_hidden = 0.25;  // of the variance: a budget of half the spread
constexpr double scaled_by = 0.01;   // the change of scale that must be detectable
constexpr std::size_t spread_part = std::size_t{1} << 14;

// The error that the budget of an element can hide; 0 if it is within the format's resolution.
double hiding(const Bounded& x, double ulp) {
  const double resolution = ulp > 0.0 ? format_resolution(x.value, ulp) : 0.0;
  return x.likely <= resolution ? 0.0 : x.likely;
}

double square(double x) { return x * x; }

/// Integers with their bounds, element by element: all at once would be 32 bytes for each.
struct BoundedIntegers {
  std::span<const Bounded> bounds;
  const Tensor& values;

  [[nodiscard]] std::size_t size() const { return bounds.size(); }
  [[nodiscard]] Bounded operator[](std::size_t i) const {
    return {number_at(values, i), bounds[i].worst, bounds[i].likely};
  }
};

struct Sums {
  double count = 0.0;
  double value = 0.0;    // of r − origin
  double squares = 0.0;  // of r − origin
  double steps = 0.0;    // of the differences of neighbours, squared
  double hidden = 0.0;   // of budgets, squared
  double largest_hidden = 0.0;

  void add(const Sums& other) {
    count += other.count;
    value += other.value;
    squares += other.squares;
    steps += other.steps;
    hidden += other.hidden;
    largest_hidden = std::fmax(largest_hidden, other.largest_hidden);
  }
};

template <class Reference>
Sums sums_of(const Reference& reference, std::size_t begin, std::size_t end, double origin, double ulp) {
  Sums sums;
  for (std::size_t i = begin; i < end; ++i) {
    const Bounded& x = reference[i];
    if (!std::isfinite(x.value)) continue;
    const double value = x.value - origin;
    const double hides = hiding(x, ulp);
    sums.count += 1.0;
    sums.value += value;
    sums.squares += value * value;
    sums.hidden += hides * hides;
    sums.largest_hidden = std::fmax(sums.largest_hidden, hides);
    const double next = reference[i + 1 == reference.size() ? 0 : i + 1].value;
    if (std::isfinite(next)) sums.steps += square(next - x.value);
  }
  return sums;
}

// Σ min(budget, |r − centre|)² and whether everything fits the budgets; `other(i)`: a wrong tensor's element.
struct Fit {
  double hidden = 0.0;
  double total = 0.0;
  bool passes = true;    // the wrong tensor passes everywhere
  bool differs = false;  // it differs by more than the format's resolution
};

template <class Reference, class Other>
Fit fit_of(const Reference& reference, double ulp, Other other) {
  Fit fit;
  for (std::size_t i = 0; i < reference.size(); ++i) {
    const Bounded& x = reference[i];
    const double wrong = other(i);
    if (!std::isfinite(x.value) || !std::isfinite(wrong)) continue;
    const double distance = std::fabs(x.value - wrong);
    const double hides = hiding(x, ulp);
    fit.hidden += square(std::fmin(hides, distance));
    fit.total += square(distance);
    fit.passes = fit.passes && distance <= x.likely;
    fit.differs = fit.differs || (distance > 0.0 && hides > 0.0);
  }
  return fit;
}

// Whether one constant passes everywhere: the intervals of all elements intersect.
template <class Reference>
bool some_constant_passes(const Reference& reference) {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < reference.size(); ++i) {
    const Bounded& x = reference[i];
    if (!std::isfinite(x.value)) continue;
    low = std::fmax(low, x.value - x.likely);
    high = std::fmin(high, x.value + x.likely);
  }
  return low <= high;
}

bool passes_as_wrong(const Fit& fit) { return fit.passes && fit.differs; }

template <class Reference>
Blindness blindness_of(const Reference& reference, const JudgeableRule& rule, ThreadPool& threads) {
  std::size_t first = 0;
  while (first < reference.size() && !std::isfinite(reference[first].value)) ++first;
  if (first == reference.size()) return Blindness::none;
  const double origin = reference[first].value;
  std::vector<Sums> parts((reference.size() + spread_part - 1) / spread_part);
  threads.parallel_for(static_cast<std::int64_t>(parts.size()), 1, [&](std::int64_t begin, std::int64_t end) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i)
      parts[i] = sums_of(reference, i * spread_part, std::min(reference.size(), (i + 1) * spread_part),
                         origin, rule.ulp);
  });
  Sums sums;
  for (const Sums& part : parts) sums.add(part);
  if (sums.hidden == 0.0) return Blindness::none;  // the usual case

  // Far below the spread no constant and no rolled reference can pass.
  const double spread = sums.squares - square(sums.value) / sums.count;
  if (!rule.group && sums.hidden < max_hidden * std::fmin(spread, sums.steps)) return Blindness::none;

  const Blindness kind = std::isinf(sums.largest_hidden) ? Blindness::infinite : Blindness::wider_than_spread;
  const double mean = origin + sums.value / sums.count;
  Fit centre = fit_of(reference, rule.ulp, [&](std::size_t) { return mean; });
  const Fit zeros = fit_of(reference, rule.ulp, [](std::size_t) { return 0.0; });
  // Constant everywhere, up to roundings of double.
  const bool flat = centre.total <= square(0x1p-45) * zeros.total;
  if (flat) centre = zeros;
  if (!flat && some_constant_passes(reference)) return kind;
  if (centre.total == 0.0 || centre.hidden >= max_hidden * centre.total) return kind;
  const Fit rolled = fit_of(reference, rule.ulp, [&](std::size_t i) {
    return reference[i + 1 == reference.size() ? 0 : i + 1].value;
  });
  if (passes_as_wrong(zeros) || passes_as_wrong(rolled)) return kind;
  if (rule.group) {
    const Fit scaled =
        fit_of(reference, rule.ulp, [&](std::size_t i) { return reference[i].value * (1.0 + scaled_by); });
    if (passes_as_wrong(scaled)) return Blindness::scaled;
  }
  return Blindness::none;
}

}  // namespace

double format_resolution(double value, double ulp) {
  constexpr double ulps = 8.0;
  constexpr double flushed = 0x1p-125;  // twice the smallest normal float32
  return ulps * ulp * power_of_two_below(std::fabs(value)) + flushed;
}

Blindness blindness(std::span<const Bounded> reference, const JudgeableRule& rule, ThreadPool& threads) {
  return blindness_of(reference, rule, threads);
}

Blindness blindness_of_integers(std::span<const Bounded> bounds, const Tensor& values,
                                const JudgeableRule& rule, ThreadPool& threads) {
  return blindness_of(BoundedIntegers{bounds, values}, rule, threads);
}

const char* blindness_text(Blindness blindness) {
  switch (blindness) {
    case Blindness::infinite: return "its budget is infinite";
    case Blindness::wider_than_spread: return "its budget is wider than the spread of its values";
    case Blindness::scaled: return "its budget is wider than a hundredth of its values";
    case Blindness::none: break;
  }
  return "";
}

}  // namespace driftscope
