// How far two tensors are apart, by a sample of their elements.
#include <cmath>

#include "core/convert_check/alignment.hpp"

namespace driftscope::convert {
namespace {

constexpr std::size_t sampled_elements = 512;

double root_mean_square(const std::vector<double>& numbers) {
  double sum = 0.0;
  for (const double x : numbers) sum += x * x;
  return numbers.empty() ? 0.0 : std::sqrt(sum / static_cast<double>(numbers.size()));
}

/// The same infinity, or no number on both sides.
bool is_same_exception(double x, double y) {
  return (std::isnan(x) && std::isnan(y)) || (std::isinf(x) && x == y);
}

}  // namespace

double distance(const Tensor& a, const Tensor& b, Order& order) {
  double smallest = INFINITY;
  if (!same_kind(a.dtype(), b.dtype())) return smallest;
  for (Order& candidate : orders_between(a.shape(), b.shape())) {
    Samples samples = samples_of(a, b, candidate, sampled_elements);
    for (std::size_t i = 0; i < samples.first.size(); ++i)
      if (is_same_exception(samples.first[i], samples.second[i])) samples.first[i] = samples.second[i] = 0.0;
    const double size = root_mean_square(samples.first);
    for (std::size_t i = 0; i < samples.first.size(); ++i) samples.second[i] -= samples.first[i];
    double apart = root_mean_square(samples.second);
    if (apart > 0.0) apart = size > 0.0 ? apart / size : 1e6;
    if (!(apart < 1e6)) apart = 1e6;  // NaN or infinity on one side; still a candidate
    // Where values have drifted any order may be closest by chance: those that come first are the usual ones.
    if (!std::isinf(smallest) && apart >= smallest / 4.0) continue;
    smallest = apart;
    order = std::move(candidate);
  }
  return smallest;
}

}  // namespace driftscope::convert
