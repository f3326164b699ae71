#include "core/numerics/variance_witness.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

namespace driftscope {
namespace {

constexpr double max_excused = 0.5;  // of the variance
// Another order of summation, fused operations, a mean by a reciprocal: the errors are similar, not the
// same.
constexpr double spread_of_orders = 4.0;
// Errors of every one-pass variance: the last roundings of E[x²], of mean² and of their parts.
constexpr double last_roundings = 8.0;
constexpr std::array<std::size_t, 5> interleaved = {1, 4, 8, 32, 256};
constexpr std::size_t block = 128;

struct Sums {
  float x = 0.0f;
  float squares = 0.0f;
  void add(float value) {
    x += value;
    squares += value * value;
  }
  void add(const Sums& other) {
    x += other.x;
    squares += other.squares;
  }
};

// Partial sums of every `lanes`-th element, combined by halves, as SIMD and GPU kernels do.
Sums interleaved_sums(std::span<const float> lane, std::size_t lanes) {
  std::array<Sums, interleaved.back()> parts;
  for (std::size_t i = 0; i < lane.size(); ++i) parts[i % lanes].add(lane[i]);
  for (std::size_t half = lanes / 2; half > 0; half /= 2)
    for (std::size_t i = 0; i < half; ++i) parts[i].add(parts[i + half]);
  return parts[0];
}

Sums blocked_sums(std::span<const float> lane) {
  Sums all;
  for (std::size_t begin = 0; begin < lane.size(); begin += block) {
    Sums part;
    for (const float x : lane.subspan(begin, std::min(block, lane.size() - begin))) part.add(x);
    all.add(part);
  }
  return all;
}

double one_pass(const Sums& sums, std::size_t count) {
  const float n = static_cast<float>(count);
  const float mean = sums.x / n;
  return static_cast<double>(sums.squares / n - mean * mean);
}

// Every `lanes`-th element by the recurrence, the parts merged (Chan, Golub and LeVeque 1979).
double welford(std::span<const float> lane, std::size_t lanes) {
  struct Part {
    float n = 0.0f, mean = 0.0f, squares = 0.0f;
  };
  std::vector<Part> parts(lanes);
  for (std::size_t i = 0; i < lane.size(); ++i) {
    Part& part = parts[i % lanes];
    part.n += 1.0f;
    const float before = lane[i] - part.mean;
    part.mean += before / part.n;
    part.squares += before * (lane[i] - part.mean);
  }
  Part all = parts[0];
  for (std::size_t i = 1; i < lanes && i < lane.size(); ++i) {
    const float n = all.n + parts[i].n;
    const float apart = parts[i].mean - all.mean;
    all.squares += parts[i].squares + apart * apart * (all.n * parts[i].n / n);
    all.mean += apart * (parts[i].n / n);
    all.n = n;
  }
  return static_cast<double>(all.squares / all.n);
}

// The deviations from the rounded mean, every `lanes`-th added up.
double two_passes(std::span<const float> lane, std::size_t lanes) {
  const float n = static_cast<float>(lane.size());
  const float mean = interleaved_sums(lane, lanes).x / n;
  std::array<float, interleaved.back()> parts{};
  for (std::size_t i = 0; i < lane.size(); ++i) {
    const float deviation = lane[i] - mean;
    parts[i % lanes] += deviation * deviation;
  }
  for (std::size_t half = lanes / 2; half > 0; half /= 2)
    for (std::size_t i = 0; i < half; ++i) parts[i] += parts[i + half];
  return static_cast<double>(parts[0] / n);
}

}  // namespace

std::vector<double> variance_errors(std::span<const float> lane, double variance) {
  std::vector<double> errors;
  const auto add = [&](double got) { errors.push_back((got - variance) / variance); };
  for (const std::size_t lanes : interleaved) {
    add(two_passes(lane, lanes));
    add(one_pass(interleaved_sums(lane, lanes), lane.size()));
  }
  add(one_pass(blocked_sums(lane), lane.size()));
  for (const std::size_t lanes : {std::size_t{1}, std::size_t{8}, std::size_t{32}}) add(welford(lane, lanes));
  return errors;
}

VarianceExcuses variance_excuses(std::span<const Bounded> lane, double mean, double variance) {
  const double cap = max_excused * std::fabs(variance);
  const double coarser = current_error_model().unit_roundoff / 0x1p-24;
  if (!(coarser <= 2.0)) return {cap, cap};  // half precision, whose sums may be of either type
  std::vector<float> values(lane.size());
  std::ranges::transform(lane, values.begin(), [](const Bounded& x) { return static_cast<float>(x.value); });
  const auto excuse = [&](double error, double size) {
    if (!std::isfinite(error)) return cap;
    const double roundings = last_roundings * current_error_model().unit_roundoff * size;
    return std::fmin(spread_of_orders * std::fmax(coarser, 1.0) * error + roundings, cap);
  };
  double of_one_pass = 0.0;
  double of_welford = 0.0;
  const auto error = [&](double got) { return std::fabs(got - variance); };
  for (const std::size_t lanes : interleaved)
    of_one_pass = std::fmax(of_one_pass, error(one_pass(interleaved_sums(values, lanes), values.size())));
  of_one_pass = std::fmax(of_one_pass, error(one_pass(blocked_sums(values), values.size())));
  for (const std::size_t lanes : {std::size_t{1}, std::size_t{8}, std::size_t{32}})
    of_welford = std::fmax(of_welford, error(welford(values, lanes)));
  const double raw = mean * mean + variance;
  return {excuse(of_one_pass, raw), excuse(of_welford, std::sqrt(raw * std::fabs(variance)))};
}

}  // namespace driftscope
