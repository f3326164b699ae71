#include "core/verify/rounded_factors.hpp"

#include <array>

#include "core/verify/slope_fit.hpp"

namespace driftscope {
namespace {

constexpr std::size_t pilot = 16;          // elements
constexpr double indistinct = 1e-3;        // correlations
constexpr std::size_t tf32 = 0, half = 2;  // in all_narrow_formats

using AllFormats = std::array<FactorErrors, all_narrow_formats.size()>;

struct Hypothesis {
  std::size_t format = 0;
  RoundedFactors which = RoundedFactors::both;
  SlopeFit fit;
  bool either = false;  // TF32 or float16
};

// Effects of a constant offset, the result itself and the sizes of its terms: many equal roundings correlate
// with these, whatever their cause.
Projection common_leanings(std::span<const SampledSum> elements) {
  std::vector<std::vector<double>> columns(3);
  for (const SampledSum& element : elements) {
    columns[0].push_back(1.0);
    columns[1].push_back(element.sum.value / element.spread);
    columns[2].push_back(element.sum.magnitude / element.spread);
  }
  return Projection(std::move(columns));
}

class Correlation {
 public:
  explicit Correlation(const ProductSample& sample)
      : sample_(sample), projection_(common_leanings(sample.elements())) {
    for (const SampledSum& element : sample.elements()) errors_.push_back(element.error);
    size_ = root_mean_square(errors_);
    projection_.remove(errors_);
    all_ = sample.map<AllFormats>(errors_.size(), [](const ProductTerms& terms, const SampledSum&) {
      AllFormats errors;
      for (std::size_t i = 0; i < errors.size(); ++i) errors[i] = factor_errors(terms, all_narrow_formats[i]);
      return errors;
    });
  }

  /// The promising hypothesis with the largest correlation.
  [[nodiscard]] std::optional<Hypothesis> best() const {
    std::optional<Hypothesis> best;
    if (!is_left(errors_, size_)) return best;
    for (std::size_t format = 0; format < all_narrow_formats.size(); ++format)
      for (const RoundedFactors which :
           {RoundedFactors::both, RoundedFactors::first, RoundedFactors::second}) {
        const auto fit = fit_of(format, which);
        if (!fit || !fit->promising() || (best && fit->correlation <= best->fit.correlation)) continue;
        best = Hypothesis{format, which, *fit};
      }
    if (best && (best->format == tf32 || best->format == half)) {
      const auto other = fit_of(best->format == tf32 ? half : tf32, best->which);
      best->either =
          other && best->fit.correlation - other->correlation < indistinct && other->slope_is_one();
    }
    return best;
  }

  /// Whether errors unrelated to these numbers would follow the hypothesis as well.
  [[nodiscard]] bool placebo_follows(const Hypothesis& found) const {
    const auto made = sample_.map<std::array<double, placebos>>(
        errors_.size(), [&](const ProductTerms& terms, const SampledSum&) {
          return placebo_errors(terms, all_narrow_formats[found.format], found.which);
        });
    for (std::size_t p = 0; p < placebos; ++p) {
      std::vector<double> errors;
      for (std::size_t i = 0; i < made.size(); ++i)
        errors.push_back(made[i][p] / sample_.elements()[i].spread);
      projection_.remove(errors);
      const SlopeFit fit = slope_of(errors_, errors, projection_.columns());
      if (std::fabs(fit.correlation) > max_placebo * found.fit.correlation) return true;
    }
    return false;
  }

 private:
  /// Nothing if the hypothesis predicts errors that the layer does not have.
  [[nodiscard]] std::optional<SlopeFit> fit_of(std::size_t format, RoundedFactors which) const {
    std::vector<double> errors;
    for (std::size_t i = 0; i < all_.size(); ++i)
      errors.push_back(error_of(all_[i][format], which) / sample_.elements()[i].spread);
    const double size = root_mean_square(errors);
    if (!std::isfinite(size) || !(size > 0.0) || size_ < min_share_of_hypothesis * size) return std::nullopt;
    projection_.remove(errors);
    if (!is_left(errors, size)) return std::nullopt;
    return slope_of(errors_, errors, projection_.columns());
  }

  const ProductSample& sample_;
  Projection projection_;
  std::vector<double> errors_;
  double size_ = 0.0;
  std::vector<AllFormats> all_;
};

}  // namespace

Finding rounded_factors_finding(RoundedFactors which, std::string_view format, std::size_t elements,
                                double correlation) {
  const char* inputs = which == RoundedFactors::both    ? "inputs"
                       : which == RoundedFactors::first ? "the first input"
                                                        : "the second input";
  return {.id = "precision.rounded_inputs",
          .numbers = {{"elements", static_cast<double>(elements)}, {"correlation", correlation}},
          .words = {{"which", inputs}, {"format", std::string(format)}}};
}

bool may_be_rounded_factors(const ProductSample& sample) {
  const auto errors = sample.map<FactorErrors>(pilot, [](const ProductTerms& terms, const SampledSum&) {
    return factor_errors(terms, all_narrow_formats[tf32]);
  });
  double first = 0.0;
  double second = 0.0;
  for (std::size_t i = 0; i < errors.size(); ++i) {
    const double spread = sample.elements()[i].spread;
    first += errors[i].first / spread * (errors[i].first / spread);
    second += errors[i].second / spread * (errors[i].second / spread);
  }
  const double size = sample.rms_error();
  const auto fits = [&](double squares) {
    // Of few elements: half as large may be the same.
    const double min_share = min_share_of_hypothesis * min_share_of_hypothesis;
    return squares > 0.0 && size >= min_share * std::sqrt(squares / static_cast<double>(errors.size()));
  };
  return fits(first) || fits(second);
}

std::optional<Finding> find_rounded_factors(const SumsOfProducts& sums, std::span<const Bounded> reference,
                                            std::span<const float> got, const ErrorModel& model,
                                            ThreadPool& threads) {
  for (const std::int64_t count : correlated_elements) {
    const ProductSample sample(sums, reference, got, count, model, threads);
    if (sample.elements().size() < min_correlated) return std::nullopt;
    const Correlation correlation(sample);
    const auto found = correlation.best();
    if (!found) return std::nullopt;
    if (found->fit.certain() && !correlation.placebo_follows(*found)) {
      const std::string_view format =
          found->either ? "10 bits (TF32 or float16)" : narrow_format_text(all_narrow_formats[found->format]);
      return rounded_factors_finding(found->which, format, sample.elements().size(), found->fit.correlation);
    }
    if (static_cast<std::int64_t>(reference.size()) <= count) break;
  }
  return std::nullopt;
}

}  // namespace driftscope
