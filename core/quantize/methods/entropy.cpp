// entropy: the range that loses the least information, by the Kullback–Leibler divergence of the distribution
// with its outliers at the ends from the one that 128 steps can express (Migacz, 8-bit Inference with
// TensorRT, GTC 2017; as ONNX Runtime's get_entropy_threshold, on both sides of 0, but without cutting the
// expanded counts to whole numbers).
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "core/quantize/calibration_method.hpp"

namespace driftscope::quantize::methods::entropy {
namespace {

constexpr std::size_t steps = 128;

/// Takes a little from the others for bins that are empty, so that the divergence is finite; then sums to 1.
std::optional<std::vector<double>> smooth(std::vector<double> counts) {
  constexpr double little = 0.0001;
  const auto empty = static_cast<double>(std::ranges::count(counts, 0.0));
  const double filled = static_cast<double>(counts.size()) - empty;
  if (filled == 0.0) return std::nullopt;
  const double taken = little * empty / filled;
  if (taken >= 1.0) return std::nullopt;
  double sum = 0.0;
  for (double& count : counts) {
    count += count == 0.0 ? little : -taken;
    sum += count;
  }
  for (double& count : counts) count /= sum;
  return counts;
}

double divergence(const std::vector<std::int64_t>& bins, std::size_t begin, std::size_t end) {
  const std::size_t size = end - begin;
  std::vector<double> p(size);
  for (std::size_t i = 0; i < size; ++i) p[i] = static_cast<double>(bins[begin + i]);
  std::vector<double> q(size, 0.0);
  const std::vector<double> inside = p;
  for (std::size_t i = 0; i < begin; ++i) p.front() += static_cast<double>(bins[i]);
  for (std::size_t i = end; i < bins.size(); ++i) p.back() += static_cast<double>(bins[i]);
  const std::size_t merged = size / steps;
  for (std::size_t step = 0; step < steps; ++step) {
    const std::size_t from = step * merged;
    const std::size_t to = from + merged;
    // What is left over belongs to the last step, but is not expanded again.
    double sum = 0.0;
    double filled = 0.0;
    for (std::size_t i = from; i < (step + 1 == steps ? size : to); ++i) sum += inside[i];
    for (std::size_t i = from; i < to; ++i) filled += p[i] != 0.0 ? 1.0 : 0.0;
    if (filled == 0.0) continue;
    for (std::size_t i = from; i < to; ++i) q[i] = sum / filled;
  }
  const auto wanted = smooth(std::move(p));
  const auto got = smooth(std::move(q));
  if (!wanted || !got) return std::numeric_limits<double>::infinity();
  double sum = 0.0;
  for (std::size_t i = 0; i < size; ++i) {
    if ((*wanted)[i] <= 0.0) continue;
    if ((*got)[i] <= 0.0) return std::numeric_limits<double>::infinity();
    sum += (*wanted)[i] * std::log((*wanted)[i] / (*got)[i]);
  }
  return sum;
}

ValueRange range(const Observed& observed, const MethodOptions& /*options*/) {
  const std::size_t middle = observed.bins.size() / 2;
  double best = std::numeric_limits<double>::infinity();
  ValueRange found = observed.extremes;
  for (std::size_t half = steps / 2; half <= middle; ++half) {
    const std::size_t begin = middle - half;
    const std::size_t end = std::min(middle + half + 1, observed.bins.size());
    const double lost = divergence(observed.bins, begin, end);
    if (!(lost < best)) continue;
    best = lost;
    found = {observed.edge(begin), observed.edge(end)};
  }
  return {std::max(found.low, observed.extremes.low), std::min(found.high, observed.extremes.high)};
}

}  // namespace

void add_to(MethodTable& table) {
  table.add({.order = 30,
             .name = "entropy",
             .summary = "the range that loses the least information (KL divergence, 128 steps of 2048 bins)",
             .bins = 2048,
             .range = range});
}

}  // namespace driftscope::quantize::methods::entropy
