#include "core/verify/product_sample.hpp"

namespace driftscope {
namespace {

// Products of this size stay clear of the subnormal range, also where that is flushed.
constexpr double min_spread_exact = 0x1p-110;
constexpr double min_spread_flushing = 0x1p-90;
constexpr double largest_sum = 0x1p126;

}  // namespace

// Place k lies in the interval that starts at element k·elements/count, at the fraction frac(k·φ) of it.
std::vector<std::int64_t> sampled_places(std::int64_t limit, std::int64_t elements) {
  const std::int64_t count = std::min(limit, elements);
  const auto stretch = static_cast<double>(elements) / static_cast<double>(count);
  std::vector<std::int64_t> places;
  for (std::int64_t k = 0; k < count; ++k) {
    const double golden = static_cast<double>(k) * 0.6180339887498949;
    const double at = (static_cast<double>(k) + (golden - std::floor(golden))) * stretch;
    places.push_back(count == elements ? k : std::min(elements - 1, static_cast<std::int64_t>(at)));
  }
  places.erase(std::unique(places.begin(), places.end()), places.end());
  return places;
}

ProductSample::ProductSample(const SumsOfProducts& sums, std::span<const Bounded> reference,
                             std::span<const float> got, std::int64_t limit, const ErrorModel& model,
                             ThreadPool& threads)
    : sums_(sums), threads_(threads) {
  const double min_spread = model.flushes_subnormals ? min_spread_flushing : min_spread_exact;
  for (const std::int64_t at : sampled_places(limit, static_cast<std::int64_t>(reference.size())))
    elements_.push_back({at, 0.0, 0.0, {}});
  elements_ = map<SampledSum>(elements_.size(), [&](const ProductTerms& terms, const SampledSum& element) {
    const auto at = static_cast<std::size_t>(element.at);
    const SumStatistics sum = statistics_of(terms);
    const double error = (static_cast<double>(got[at]) - reference[at].value) / terms.scale;
    const bool usable = std::isfinite(error) && sum.spread > min_spread && sum.magnitude < largest_sum;
    return SampledSum{element.at, usable ? error / sum.spread : 0.0, usable ? sum.spread : 0.0, sum};
  });
  std::erase_if(elements_, [](const SampledSum& element) { return element.spread == 0.0; });
}

}  // namespace driftscope
