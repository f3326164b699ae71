// Compiled for size on the web (cmake/core.cmake).
#include "core/verify/rounded_groups.hpp"

#include <bit>
#include <cmath>
#include <vector>

#include "core/verify/rounded_factors.hpp"
#include "core/verify/slope_fit.hpp"

namespace driftscope {
namespace {

constexpr std::int64_t group_elements = 1024;
constexpr std::uint64_t group_placebos = 4;
constexpr double indistinct_formats = 1e-3;  // correlations

std::uint64_t scrambled(std::uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

// The errors of a group's elements, in units of their budgets.
class GroupErrors {
 public:
  GroupErrors(std::span<const Bounded> reference, std::span<const float> got, const Tensor& plain)
      : plain_(plain.values<float>()) {
    std::vector<std::vector<double>> columns(2);
    for (const std::int64_t place :
         sampled_places(group_elements, static_cast<std::int64_t>(reference.size()))) {
      const auto at = static_cast<std::size_t>(place);
      const Bounded& want = reference[at];
      const double error = static_cast<double>(got[at]) - want.value;
      // After a Relu zeros carry no information.
      const bool says = want.value != 0.0 || error != 0.0;
      if (!says || !std::isfinite(error) || !(want.worst > 0.0) || !std::isfinite(want.worst)) continue;
      places_.push_back(at);
      scales_.push_back(want.worst);
      errors_.push_back(error / want.worst);
      columns[0].push_back(1.0);
      columns[1].push_back(want.value / want.worst);
    }
    size_ = root_mean_square(errors_);
    projection_ = Projection(std::move(columns));
    projection_.remove(errors_);
  }

  [[nodiscard]] std::size_t count() const { return errors_.size(); }
  [[nodiscard]] bool usable() const { return count() >= min_correlated && is_left(errors_, size_); }

  /// For the difference that a changed run makes.
  [[nodiscard]] SlopeFit fit_of(const Tensor& changed) const {
    const auto values = changed.values<float>();
    if (values.size() != plain_.size()) return {};
    std::vector<double> errors;
    for (std::size_t i = 0; i < places_.size(); ++i)
      errors.push_back((static_cast<double>(values[places_[i]]) - static_cast<double>(plain_[places_[i]])) /
                       scales_[i]);
    const double size = root_mean_square(errors);
    if (!std::isfinite(size) || !(size > 0.0) || size_ < min_share_of_hypothesis * size) return {};
    projection_.remove(errors);
    return is_left(errors, size) ? slope_of(errors_, errors, projection_.columns()) : SlopeFit();
  }

 private:
  std::span<const float> plain_;
  std::vector<std::size_t> places_;
  std::vector<double> scales_;
  std::vector<double> errors_;
  double size_ = 0.0;
  Projection projection_{{}};
};

bool placebo_follows(const GroupRun& run, const GroupErrors& errors, NarrowFormat format,
                     const SlopeFit& found) {
  for (std::uint64_t p = 1; p <= group_placebos; ++p) {
    const auto changed = run([&](float x) {
      const float off = rounded_to(format, x) - x;
      const bool down = (scrambled(std::bit_cast<std::uint32_t>(x) + (p << 40)) & 1u) != 0;
      return std::isfinite(off) ? x + (down ? -off : off) : x;
    });
    if (!changed || std::fabs(errors.fit_of(*changed).correlation) > max_placebo * found.correlation)
      return true;
  }
  return false;
}

}  // namespace

std::optional<Finding> find_rounded_group(const GroupRun& run, std::span<const Bounded> reference,
                                          std::span<const float> got) {
  const auto plain = run({});
  if (!plain || plain->dtype() != DType::float32 || plain->values<float>().size() != got.size())
    return std::nullopt;
  const GroupErrors errors(reference, got, *plain);
  if (!errors.usable()) return std::nullopt;
  std::optional<NarrowFormat> best;
  SlopeFit fit;
  double of_tf32 = 0.0;
  double of_half = 0.0;
  for (const NarrowFormat format : all_narrow_formats) {
    const auto changed = run([&](float x) { return rounded_to(format, x); });
    if (!changed) return std::nullopt;
    const SlopeFit one = errors.fit_of(*changed);
    if (format == NarrowFormat::tf32) of_tf32 = one.correlation;
    if (format == NarrowFormat::float16) of_half = one.correlation;
    if (!one.certain() || one.correlation <= fit.correlation) continue;
    best = format;
    fit = one;
  }
  if (!best || placebo_follows(run, errors, *best, fit)) return std::nullopt;
  const bool ten_bits = *best == NarrowFormat::tf32 || *best == NarrowFormat::float16;
  const bool either = ten_bits && std::fabs(of_tf32 - of_half) < indistinct_formats;
  return rounded_factors_finding(RoundedFactors::both,
                                 either ? "10 bits (TF32 or float16)" : narrow_format_text(*best),
                                 errors.count(), fit.correlation);
}

}  // namespace driftscope
