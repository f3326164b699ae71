#include "core/verify/bias.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "core/platform/platform.hpp"

namespace driftscope {
namespace {

constexpr std::int64_t min_slices = 30;
constexpr std::int64_t max_samples = 1 << 16;
constexpr double immaterial = 0.01;  // of the statistical budget
constexpr double plain_factor = 4.0;
constexpr double max_repetition = 1e-3;
constexpr double worth_asking = bias_limit / 2.0;

// The two ways to lean.
enum Direction { raw, outward };
using Signed = std::array<double, 2>;

struct Axis {
  std::int64_t size;
  std::int64_t stride;
};

// Axes along which there are slices enough, or none when an axis that must have them has not: the
// channels (axis 1) of images, the columns of matrices; for rank 3 both, since either may be meant.
std::vector<Axis> slicing_axes(const Shape& shape) {
  std::vector<Axis> axes;
  std::int64_t stride = 1;
  const auto rank = shape.size();
  for (std::size_t i = rank; i-- > 0; stride *= shape[i]) {
    const bool required = rank <= 2 ? i + 1 == rank : i == 1 || (rank == 3 && i == 2);
    if (shape[i] >= min_slices) axes.push_back({shape[i], stride});
    else if (required && !(rank == 3 && shape[i] == 1)) return {};
  }
  return axes;
}

struct Sample {
  std::int64_t index;
  double value;
  double got;
  double error;       // signed, in statistical budgets
  double systematic;  // what may lean by right, in the same unit

  [[nodiscard]] double share(Direction d) const {
    return d == outward && std::signbit(value) ? -error : error;
  }
};

// Of several samples with the same value and result only the first stays.
std::vector<Sample> distinct(std::span<const std::vector<Sample>> parts) {
  std::size_t count = 0;
  for (const auto& part : parts) count += part.size();
  std::vector<Sample> kept;
  kept.reserve(count);
  // Open addressing, at most half full; 0 is an empty place.
  std::vector<std::uint32_t> places(std::bit_ceil(2 * count + 1), 0);
  for (const auto& part : parts)
    for (const Sample& sample : part) {
      // + 0.0: both zeros are one value.
      std::uint64_t hash = std::bit_cast<std::uint64_t>(sample.value + 0.0) * 0x9e3779b97f4a7c15u;
      hash =
          (hash ^ hash >> 32 ^ std::bit_cast<std::uint64_t>(sample.got + 0.0)) * 0xc2b2ae3d27d4eb4fu;
      // The upper half: floats widened to double have zeros below, and so has a product with them.
      std::size_t at = static_cast<std::size_t>(hash >> 32 & (places.size() - 1));
      const auto same = [&](const Sample& other) {
        return other.value == sample.value && other.got == sample.got;
      };
      while (places[at] != 0 && !same(kept[places[at] - 1])) at = (at + 1) & (places.size() - 1);
      if (places[at] != 0) continue;
      kept.push_back(sample);
      places[at] = static_cast<std::uint32_t>(kept.size());
    }
  return kept;
}

// A number of elements that is enough, spread over the whole tensor, each distinct pair once.
std::vector<Sample> take_samples(std::span<const Bounded> reference, std::span<const float> got,
                                 ThreadPool& threads) {
  const auto elements = static_cast<std::int64_t>(reference.size());
  const std::int64_t count = std::min(elements, max_samples);
  // Sample k lies behind element k·elements/count; without a division for each.
  const std::int64_t scale = elements > max_samples ? elements : 1;
  const int shift = elements > max_samples ? std::countr_zero(std::uint64_t{max_samples}) : 0;
  const auto take = [&](std::int64_t k, std::vector<Sample>& part) {
    // Evenly spread, but not in step with any axis: the fraction of k·φ within each stretch.
    const std::int64_t begin = (k * scale) >> shift;
    const std::int64_t stretch = (((k + 1) * scale) >> shift) - begin;
    const double golden = static_cast<double>(k) * 0.6180339887498949;
    const double fraction = golden - static_cast<double>(static_cast<std::int64_t>(golden));
    const auto offset = static_cast<std::int64_t>(fraction * static_cast<double>(stretch));
    const auto at = static_cast<std::size_t>(begin + offset);
    const Bounded& want = reference[at];
    const auto g = static_cast<double>(got[at]);
    if (!std::isfinite(g) || !std::isfinite(want.value) || !std::isfinite(want.likely) ||
        want.likely <= 0.0)
      return;
    part.push_back({begin + offset, want.value, g, (g - want.value) / want.likely,
                    want.systematic / want.likely});
  };
  constexpr std::int64_t part_samples = 4096;
  std::vector<std::vector<Sample>> parts(
      static_cast<std::size_t>((count + part_samples - 1) / part_samples));
  threads.parallel_for(
      static_cast<std::int64_t>(parts.size()), 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
          std::vector<Sample>& part = parts[static_cast<std::size_t>(i)];
          part.reserve(part_samples);
          const std::int64_t last = std::min(count, (i + 1) * part_samples);
          for (std::int64_t k = i * part_samples; k < last; ++k) take(k, part);
        }
      });
  return distinct(parts);
}

Signed mean_share(const std::vector<Sample>& samples) {
  Signed sum{};
  for (const Sample& s : samples)
    for (const Direction d : {raw, outward}) sum[d] += s.share(d);
  for (double& x : sum) x /= static_cast<double>(samples.size());
  return sum;
}

struct Scatter {
  double standard_error = 0.0;
  std::int64_t slices = 0;
};

Scatter scatter_along(const Axis& axis, const std::vector<Sample>& samples, double mean,
                      Direction d) {
  std::vector<double> deviation(static_cast<std::size_t>(axis.size));
  std::vector<bool> seen(deviation.size());
  for (const Sample& s : samples) {
    const auto slice = static_cast<std::size_t>(s.index / axis.stride % axis.size);
    deviation[slice] += s.share(d) - mean;
    seen[slice] = true;
  }
  Scatter scatter;
  double squares = 0.0;
  for (std::size_t i = 0; i < deviation.size(); ++i) {
    squares += deviation[i] * deviation[i];
    scatter.slices += seen[i] ? 1 : 0;
  }
  const auto slices = static_cast<double>(scatter.slices);
  if (scatter.slices > 1)
    scatter.standard_error = std::sqrt(squares * slices / (slices - 1.0)) /
                             static_cast<double>(samples.size());
  return scatter;
}

// The standard normal quantile with the tail of Student's t: Wallace 1959.
double normal_equivalent(double t, double freedom) {
  return (8.0 * freedom + 1.0) / (8.0 * freedom + 3.0) *
         std::sqrt(freedom * std::log1p(t * t / freedom));
}

// How far `lean` stands out, the least over all axes.
double significance(double lean, const std::vector<Axis>& axes, const std::vector<Sample>& samples,
                    double mean, Direction d) {
  if (lean <= 0.0) return 0.0;
  double least = std::numeric_limits<double>::max();
  for (const Axis& axis : axes) {
    const Scatter scatter = scatter_along(axis, samples, mean, d);
    if (scatter.slices < min_slices) return 0.0;
    const double t = lean / std::fmax(scatter.standard_error, std::numeric_limits<double>::min());
    least = std::fmin(least, normal_equivalent(t, static_cast<double>(scatter.slices - 1)));
  }
  return least;
}

}  // namespace

double signed_bias_z(std::span<const Bounded> reference, const Tensor& got,
                     const BiasWitness& witness, ThreadPool& threads) {
  const std::vector<Axis> axes = slicing_axes(got.shape());
  if (axes.empty()) return 0.0;
  const std::vector<Sample> samples = take_samples(reference, got.values<float>(), threads);
  if (samples.empty()) return 0.0;
  const Signed mean = mean_share(samples);
  double allowed = immaterial;
  for (const Sample& s : samples) allowed += s.systematic / static_cast<double>(samples.size());

  const auto largest = [&](const Signed& further) {
    double z = 0.0;
    for (const Direction d : {raw, outward}) {
      const double lean = std::fabs(mean[d]) - allowed - further[d];
      const double one = significance(lean, axes, samples, mean[d], d);
      if (one > std::fabs(z)) z = std::copysign(one, mean[d]);
    }
    return z;
  };
  const double z = largest({0.0, 0.0});
  if (std::fabs(z) <= worth_asking) return z;
  if (witness.repetition() > max_repetition) return 0.0;
  const std::optional<Tensor> plain = witness.plain_float();
  if (!plain || plain->dtype() != DType::float32 || plain->shape() != got.shape()) return 0.0;
  const std::vector<Sample> plain_samples = take_samples(reference, plain->values<float>(), threads);
  Signed further{};
  if (!plain_samples.empty()) further = mean_share(plain_samples);
  for (double& x : further) x = plain_factor * std::fabs(x);
  return largest(further);
}

}  // namespace driftscope
