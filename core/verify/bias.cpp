#include "core/verify/bias.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "core/platform/platform.hpp"

namespace driftscope {
namespace {

constexpr std::int64_t min_slices = 30;
constexpr double immaterial = 0.01;  // of the statistical budget
constexpr double plain_factor = 4.0;
constexpr double max_repetition = 1e-3;
constexpr double worth_asking = bias_limit / 2.0;

// The two kinds of bias.
enum Direction { raw, outward };
using Signed = std::array<double, 2>;

struct Axis {
  std::int64_t size;
  std::int64_t stride;
};

// Axes with enough slices, or none if a required axis has too few: the
// channels (axis 1) of images, the columns of matrices; for rank 3 both, since either may be meant.
std::vector<Axis> slicing_axes(const Shape& shape) {
  std::vector<Axis> axes;
  std::int64_t stride = 1;
  const auto rank = shape.size();
  for (std::size_t i = rank; i-- > 0; stride *= shape[i]) {
    const bool required = rank <= 2 ? i + 1 == rank : i == 1 || (rank == 3 && i == 2);
    if (shape[i] >= min_slices)
      axes.push_back({shape[i], stride});
    else if (required && !(rank == 3 && shape[i] == 1))
      return {};
  }
  return axes;
}

// The errors of the sampled elements, each distinct pair of value and result once.
struct Sampled {
  BiasSamples samples;
  std::int64_t count = 0;
  Signed mean{};
  double systematic = 0.0;  // mean of the bias that is allowed
};

double share(const BiasSample& sample, Direction d) {
  return d == outward && std::signbit(sample.value) ? -sample.error : sample.error;
}

struct GroupSum {
  std::int64_t count = 0;
  Signed shares{};
  double systematic = 0.0;
};

// Keeps the first of several samples of a group with equal value and result.
GroupSum keep_distinct(BiasSamples& parts, std::size_t group) {
  std::size_t count = 0;
  for (const BiasPart& part : parts) count += part[group].size();
  // Open addressing, at most half full.
  std::vector<const BiasSample*> places(std::bit_ceil(2 * count), nullptr);
  GroupSum sum;
  for (BiasPart& part : parts) {
    std::size_t kept = 0;
    for (const BiasSample& sample : part[group]) {
      std::size_t at = sample.hash / bias_groups & (places.size() - 1);
      while (places[at] != nullptr && !places[at]->says_what(sample)) at = (at + 1) & (places.size() - 1);
      if (places[at] != nullptr) continue;
      places[at] = &(part[group][kept++] = sample);
      for (const Direction d : {raw, outward}) sum.shares[d] += share(sample, d);
      sum.systematic += sample.systematic;
    }
    part[group].resize(kept);
    sum.count += static_cast<std::int64_t>(kept);
  }
  return sum;
}

Sampled distinct(BiasSamples parts, ThreadPool& threads) {
  std::array<GroupSum, bias_groups> sums;
  threads.parallel_for(bias_groups, 1, [&](std::int64_t begin, std::int64_t end) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i)
      sums[i] = keep_distinct(parts, i);
  });
  Sampled all{std::move(parts)};
  for (const GroupSum& sum : sums) {
    all.count += sum.count;
    for (const Direction d : {raw, outward}) all.mean[d] += sum.shares[d];
    all.systematic += sum.systematic;
  }
  if (all.count == 0) return all;
  for (double& x : all.mean) x /= static_cast<double>(all.count);
  all.systematic /= static_cast<double>(all.count);
  return all;
}

struct Scatter {
  double standard_error = 0.0;
  std::int64_t slices = 0;
};

Scatter scatter_along(const Axis& axis, const Sampled& sampled, Direction d) {
  std::vector<double> deviation(static_cast<std::size_t>(axis.size));
  std::vector<bool> seen(deviation.size());
  for (const BiasPart& part : sampled.samples)
    for (const auto& group : part)
      for (const BiasSample& s : group) {
        const auto slice = static_cast<std::size_t>(s.index / axis.stride % axis.size);
        deviation[slice] += share(s, d) - sampled.mean[d];
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
    scatter.standard_error =
        std::sqrt(squares * slices / (slices - 1.0)) / static_cast<double>(sampled.count);
  return scatter;
}

// The standard normal quantile with the same tail as Student's t: Wallace 1959.
double normal_equivalent(double t, double freedom) {
  return (8.0 * freedom + 1.0) / (8.0 * freedom + 3.0) * std::sqrt(freedom * std::log1p(t * t / freedom));
}

// The significance of `lean`: the smallest over all axes.
double significance(double lean, const std::vector<Axis>& axes, const Sampled& sampled, Direction d) {
  if (lean <= 0.0) return 0.0;
  double smallest = std::numeric_limits<double>::max();
  for (const Axis& axis : axes) {
    const Scatter scatter = scatter_along(axis, sampled, d);
    if (scatter.slices < min_slices) return 0.0;
    const double t = lean / std::fmax(scatter.standard_error, std::numeric_limits<double>::min());
    smallest = std::fmin(smallest, normal_equivalent(t, static_cast<double>(scatter.slices - 1)));
  }
  return smallest;
}

}  // namespace

bool can_tell_bias(const Shape& shape) { return !slicing_axes(shape).empty(); }

double signed_bias_z(BiasSamples samples, std::span<const Bounded> reference, const Shape& shape,
                     const BiasWitness& witness, ThreadPool& threads) {
  const std::vector<Axis> axes = slicing_axes(shape);
  if (axes.empty()) return 0.0;
  const Sampled sampled = distinct(std::move(samples), threads);
  if (sampled.count == 0) return 0.0;
  const auto largest = [&](const Signed& further) {
    double z = 0.0;
    for (const Direction d : {raw, outward}) {
      const double lean = std::fabs(sampled.mean[d]) - immaterial - sampled.systematic - further[d];
      const double one = significance(lean, axes, sampled, d);
      if (one > std::fabs(z)) z = std::copysign(one, sampled.mean[d]);
    }
    return z;
  };
  const double z = largest({0.0, 0.0});
  if (std::fabs(z) <= worth_asking) return z;
  if (witness.repetition() > max_repetition) return 0.0;
  const std::optional<Tensor> plain = witness.plain_float();
  if (!plain || plain->dtype() != DType::float32 || plain->shape() != shape) return 0.0;
  Signed further = distinct({take_bias_samples(reference, plain->values<float>())}, threads).mean;
  for (double& x : further) x = plain_factor * std::fabs(x);
  return largest(further);
}

}  // namespace driftscope
