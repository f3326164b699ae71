#include "core/verify/lower_precision.hpp"

#include <cmath>
#include <utility>

#include "core/platform/platform.hpp"
#include "core/verify/product_sample.hpp"
#include "core/verify/rounded_factors.hpp"
#include "core/verify/slope_fit.hpp"

namespace driftscope {
namespace {

// One rounding to nearest, in the root mean square over mantissas that are logarithmically distributed:
// u·√(3/(24·ln 2)).
constexpr double rms_of_rounding = 0.4247;
// Additional error allowed for other algorithms (Strassen, three products of bfloat16, Winograd).
constexpr double spread_of_algorithms = 4.0;

constexpr std::int64_t gate_elements = 256;
constexpr std::int64_t first_look = 64;  // elements
constexpr std::size_t min_for_size = 16;

// The largest root mean square error of the other orders, in units of the spreads.
double largest_of_other_orders(const ProductSample& sample) {
  double largest = 0.0;
  for (std::size_t order = 0; order < other_orders(); ++order) {
    const auto errors = sample.map<double>(
        sample.elements().size(), [&](const ProductTerms& terms, const SampledSum& element) {
          return (static_cast<double>(other_sum(terms, order)) - element.sum.value) / element.spread;
        });
    largest = std::fmax(largest, root_mean_square(errors));
  }
  return largest;
}

std::optional<LowerPrecision> find_large_errors(const ProductSample& sample, const ErrorModel& model) {
  if (!model.rounds_to_nearest || sample.elements().size() < min_for_size) return std::nullopt;
  const double rounding = rms_of_rounding * model.unit_roundoff;
  const double size = sample.rms_error();
  double allowed =
      rounding * sample.rms([](const SampledSum& element) { return element.sum.walk / element.spread; });
  if (size <= spread_of_algorithms * allowed) return std::nullopt;
  const auto ascending =
      sample.map<double>(sample.elements().size(), [](const ProductTerms& terms, const SampledSum& element) {
        return (static_cast<double>(ascending_sum(terms)) - element.sum.value) / element.spread;
      });
  allowed = std::fmax(allowed, root_mean_square(ascending));
  if (size <= spread_of_algorithms * allowed) return std::nullopt;
  allowed = std::fmax(allowed, largest_of_other_orders(sample));
  if (!(size > spread_of_algorithms * allowed)) return std::nullopt;
  const double any =
      rounding * sample.rms([](const SampledSum& element) { return element.sum.any_walk / element.spread; });
  LowerPrecision found;
  found.certain = size > spread_of_algorithms * std::fmax(allowed, any);
  found.finding = {
      .id = "precision.large_errors",
      .numbers = {{"times", size / allowed}, {"orders", static_cast<double>(other_orders() + 1)}}};
  return found;
}

}  // namespace

bool worth_a_look(std::span<const Bounded> reference, std::span<const float> got, std::int64_t products,
                  const ErrorModel& model) {
  if (!(model.unit_roundoff <= 0x1p-23) || products < min_products) return false;
  const double terms = static_cast<double>(products);
  double squares = 0.0;
  std::size_t count = 0;
  for (const std::int64_t at : sampled_places(gate_elements, static_cast<std::int64_t>(reference.size()))) {
    const Bounded& want = reference[static_cast<std::size_t>(at)];
    const double error = static_cast<double>(got[static_cast<std::size_t>(at)]) - want.value;
    const double magnitude = want.worst / (terms * model.unit_roundoff);
    if (!std::isfinite(error) || !std::isfinite(magnitude) || !(magnitude > 0.0)) continue;
    squares += (error / magnitude) * (error / magnitude);
    ++count;
  }
  // One factor of each product rounded to TF32 with equal products; larger where they differ.
  constexpr double tf32 = 0x1p-11;
  constexpr double half = 0.5;
  return count > 0 && std::sqrt(squares / static_cast<double>(count)) >=
                          half * min_share_of_hypothesis * rms_of_rounding * tf32 / std::sqrt(terms);
}

std::optional<LowerPrecision> find_lower_precision(const SumsOfProducts& sums,
                                                   std::span<const Bounded> reference,
                                                   std::span<const float> got, const ErrorModel& model,
                                                   ThreadPool& threads) {
  const ProductSample sample(sums, reference, got, first_look, model, threads);
  if (sample.elements().empty()) return std::nullopt;
  if (may_be_rounded_factors(sample))
    if (auto found = find_rounded_factors(sums, reference, got, model, threads))
      return LowerPrecision{true, true, *std::move(found)};
  return find_large_errors(sample, model);
}

}  // namespace driftscope
