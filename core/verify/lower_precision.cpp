#include "core/verify/lower_precision.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/platform/platform.hpp"
#include "core/verify/float_orders.hpp"
#include "core/verify/narrow_factors.hpp"

namespace driftscope {
namespace {

// One rounding to nearest, in the root mean square over mantissas that are logarithmically distributed:
// u·√(3/(24·ln 2)).
constexpr double rms_of_rounding = 0.4247;
// What an algorithm that is no plain sum (Strassen, three products of bfloat16, Winograd) may lose more.
constexpr double spread_of_algorithms = 4.0;

constexpr std::int64_t first_look = 64;  // elements
constexpr std::array<std::int64_t, 2> correlated = {256, 1024};
constexpr std::size_t pilot = 16;
constexpr std::size_t min_for_size = 16;
constexpr std::size_t min_for_correlation = 32;
// Fisher's z of the correlation, in standard errors: by chance below 10⁻¹⁵ per layer and hypothesis.
constexpr double certain_z = 8.0;
constexpr double promising_z = 3.0;
// The same with the scatter of the elements themselves (White 1980): not one element alone.
constexpr double scattered_z = 3.0;
constexpr double slope_tolerance = 0.1;
constexpr double max_slope_error = 0.15;
constexpr double indistinct = 1e-3;  // correlations
constexpr double max_placebo = 0.7;  // of the correlation
// Errors of less than this share of the hypothesis's are not its.
constexpr double too_small = 0.7;
// What is left of errors must be more than the rounding of the projection itself.
constexpr double least_rest = 1e-6;
// Products of this size stay clear of the subnormal range, also where that is flushed.
constexpr double least_spread = 0x1p-110;
constexpr double least_spread_flushing = 0x1p-90;
constexpr double largest_sum = 0x1p126;

double squared(double x) { return x * x; }

std::int64_t place(std::int64_t k, std::int64_t count, std::int64_t elements) {
  const double golden = static_cast<double>(k) * 0.6180339887498949;
  const auto stretch = static_cast<double>(elements) / static_cast<double>(count);
  const double at = (static_cast<double>(k) + (golden - std::floor(golden))) * stretch;
  return std::min(elements - 1, static_cast<std::int64_t>(at));
}

// Ascending; each once.
std::vector<std::int64_t> places_of(std::int64_t most, std::int64_t elements) {
  const std::int64_t count = std::min(most, elements);
  std::vector<std::int64_t> places;
  for (std::int64_t k = 0; k < count; ++k)
    places.push_back(count == elements ? k : place(k, count, elements));
  places.erase(std::unique(places.begin(), places.end()), places.end());
  return places;
}

// One element of the sample: everything in units of its spread.
struct Element {
  std::int64_t at = 0;
  double spread = 0.0;  // 0: not to be used
  double error = 0.0;
  SumStatistics sum;

  [[nodiscard]] bool usable() const { return spread > 0.0; }
};

class Sample {
 public:
  Sample(const SumsOfProducts& sums, std::span<const Bounded> reference, std::span<const float> got,
         std::int64_t most, ThreadPool& threads)
      : sums_(sums), threads_(threads) {
    const auto places = places_of(most, static_cast<std::int64_t>(reference.size()));
    elements_.resize(places.size());
    each_of(
        elements_,
        [&](Element& element, const ProductTerms& terms, std::size_t i) {
          const auto at = static_cast<std::size_t>(element.at);
          const SumStatistics sum = statistics_of(terms);
          const double error = (static_cast<double>(got[at]) - reference[at].value) / terms.scale;
          const double least =
              current_error_model().flushes_subnormals ? least_spread_flushing : least_spread;
          const bool usable = std::isfinite(error) && sum.spread > least && sum.magnitude < largest_sum;
          elements_[i] = {element.at, usable ? sum.spread : 0.0, usable ? error / sum.spread : 0.0, sum};
        },
        places);
    std::erase_if(elements_, [](const Element& element) { return !element.usable(); });
  }

  [[nodiscard]] std::span<const Element> elements() const { return elements_; }

  [[nodiscard]] double rms_error() const {
    return rms([](const Element& element) { return element.error; });
  }

  template <class Value>
  [[nodiscard]] double rms(const Value& value) const {
    double squares = 0.0;
    for (const Element& element : elements_) squares += squared(value(element));
    return elements_.empty() ? 0.0 : std::sqrt(squares / static_cast<double>(elements_.size()));
  }

  /// compute(terms, element) for the first `count` elements, in parallel.
  template <class Result, class Compute>
  [[nodiscard]] std::vector<Result> map(std::size_t count, const Compute& compute) const {
    count = std::min(count, elements_.size());
    std::vector<Result> results(count);
    threads_.parallel_for(static_cast<std::int64_t>(count), 4, [&](std::int64_t begin, std::int64_t end) {
      ProductTerms terms;
      for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
        sums_.read(elements_[i].at, terms);
        results[i] = compute(terms, elements_[i]);
      }
    });
    return results;
  }

 private:
  template <class Body>
  void each_of(std::vector<Element>& elements, const Body& body, std::span<const std::int64_t> places) {
    threads_.parallel_for(
        static_cast<std::int64_t>(places.size()), 4, [&](std::int64_t begin, std::int64_t end) {
          ProductTerms terms;
          for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
            elements[i].at = places[i];
            sums_.read(places[i], terms);
            body(elements[i], terms, i);
          }
        });
  }

  const SumsOfProducts& sums_;
  ThreadPool& threads_;
  std::vector<Element> elements_;
};

double rms_of(std::span<const double> values) {
  double squares = 0.0;
  for (const double x : values) squares += squared(x);
  return values.empty() ? 0.0 : std::sqrt(squares / static_cast<double>(values.size()));
}

double inner_product_of(std::span<const double> a, std::span<const double> b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

// What a constant offset, the result itself and the sizes of its terms explain is taken away from errors:
// many equal roundings lean in such ways, whatever made them.
class Projection {
 public:
  explicit Projection(std::span<const Element> elements) {
    for (const int kind : {0, 1, 2}) {
      std::vector<double> column;
      for (const Element& element : elements)
        column.push_back(kind == 0   ? 1.0
                         : kind == 1 ? element.sum.value / element.spread
                                     : element.sum.magnitude / element.spread);
      const double before = std::sqrt(inner_product_of(column, column));
      remove(column);
      const double size = std::sqrt(inner_product_of(column, column));
      if (!(size > least_rest * before)) continue;
      for (double& x : column) x /= size;
      columns_.push_back(std::move(column));
    }
  }

  void remove(std::vector<double>& values) const {
    for (const auto& column : columns_) {
      const double share = inner_product_of(column, values);
      for (std::size_t i = 0; i < values.size(); ++i) values[i] -= share * column[i];
    }
  }

  [[nodiscard]] std::size_t columns() const { return columns_.size(); }

 private:
  std::vector<std::vector<double>> columns_;
};

struct SlopeFit {
  double correlation = 0.0;
  double slope = 0.0;
  double slope_error = 0.0;
  double z = 0.0;
  double scattered = 0.0;

  [[nodiscard]] bool slope_is_one() const {
    return slope_error <= max_slope_error &&
           std::fabs(slope - 1.0) <= std::fmax(slope_tolerance, 4.0 * slope_error);
  }
  [[nodiscard]] bool certain() const { return z >= certain_z && scattered >= scattered_z && slope_is_one(); }
};

// Of errors with a hypothesis; both without what Projection takes away.
SlopeFit fit_of(std::span<const double> errors, std::span<const double> hypothesis, std::size_t removed) {
  SlopeFit fit;
  const double hh = inner_product_of(hypothesis, hypothesis);
  const double ee = inner_product_of(errors, errors);
  const double eh = inner_product_of(errors, hypothesis);
  const double freedom = static_cast<double>(errors.size()) - static_cast<double>(removed) - 3.0;
  if (!(hh > 0.0) || !(ee > 0.0) || freedom < 1.0) return fit;
  fit.correlation = std::clamp(eh / std::sqrt(hh * ee), -1.0, 1.0);
  fit.slope = eh / hh;
  fit.slope_error = std::sqrt(std::fmax(ee - fit.slope * eh, 0.0) / hh / freedom);
  fit.z = std::atanh(std::clamp(fit.correlation, -0.999999, 0.999999)) * std::sqrt(freedom);
  double scatter = 0.0;
  for (std::size_t i = 0; i < errors.size(); ++i) scatter += squared(errors[i] * hypothesis[i]);
  fit.scattered = eh / std::sqrt(scatter);
  return fit;
}

struct Hypothesis {
  NarrowFormat format = NarrowFormat::tf32;
  RoundedFactors which = RoundedFactors::both;
  SlopeFit fit;
  bool either = false;
};

std::string text_of(const Hypothesis& found, std::size_t elements) {
  std::string_view format = narrow_format_text(found.format);
  if (found.either) format = "10 bits (TF32 or float16)";
  const char* inputs = found.which == RoundedFactors::both    ? "inputs"
                       : found.which == RoundedFactors::first ? "the first input"
                                                              : "the second input";
  return fmt::format("as with {} rounded to {}: the errors of {} elements follow it with correlation {:.3f}",
                     inputs, format, elements, found.fit.correlation);
}

class Correlation {
 public:
  explicit Correlation(const Sample& sample) : sample_(sample), projection_(sample.elements()) {
    for (const Element& element : sample.elements()) errors_.push_back(element.error);
    size_ = rms_of(errors_);
    projection_.remove(errors_);
    all_ = sample.map<std::array<FactorErrors, all_narrow_formats.size()>>(
        errors_.size(), [](const ProductTerms& terms, const Element&) {
          std::array<FactorErrors, all_narrow_formats.size()> errors;
          for (std::size_t i = 0; i < errors.size(); ++i)
            errors[i] = factor_errors(terms, all_narrow_formats[i]);
          return errors;
        });
  }

  /// The hypothesis with the largest correlation of those with slope 1, and no others where there is none.
  [[nodiscard]] std::optional<Hypothesis> best() const {
    std::optional<Hypothesis> best;
    for (std::size_t i = 0; i < all_narrow_formats.size(); ++i)
      for (const RoundedFactors which :
           {RoundedFactors::both, RoundedFactors::first, RoundedFactors::second}) {
        std::vector<double> errors = errors_by(i, which);
        const double size = rms_of(errors);
        if (!std::isfinite(size) || !(size > 0.0) || size_ < too_small * size) continue;
        projection_.remove(errors);
        if (rms_of(errors) < least_rest * size || rms_of(errors_) < least_rest * size_) continue;
        const SlopeFit fit = fit_of(errors_, errors, projection_.columns());
        if (fit.z < promising_z || (best && fit.correlation <= best->fit.correlation)) continue;
        best = Hypothesis{all_narrow_formats[i], which, fit};
      }
    if (best) best->either = is_either(*best);
    return best;
  }

  /// Whether errors that have nothing to do with these numbers would follow the hypothesis as well.
  [[nodiscard]] bool placebo_follows(const Hypothesis& found) const {
    const auto made = sample_.map<std::array<double, placebos>>(
        errors_.size(), [&](const ProductTerms& terms, const Element&) {
          return placebo_errors(terms, found.format, found.which);
        });
    for (std::size_t p = 0; p < placebos; ++p) {
      std::vector<double> errors;
      for (std::size_t i = 0; i < made.size(); ++i)
        errors.push_back(made[i][p] / sample_.elements()[i].spread);
      projection_.remove(errors);
      const SlopeFit fit = fit_of(errors_, errors, projection_.columns());
      if (std::fabs(fit.correlation) > max_placebo * found.fit.correlation) return true;
    }
    return false;
  }

 private:
  // Of TF32 and float16, which differ in small numbers only.
  [[nodiscard]] bool is_either(const Hypothesis& found) const {
    constexpr std::size_t tf32 = 0, half = 2;
    if (found.format != all_narrow_formats[tf32] && found.format != all_narrow_formats[half]) return false;
    std::vector<double> other =
        errors_by(found.format == all_narrow_formats[tf32] ? half : tf32, found.which);
    projection_.remove(other);
    const SlopeFit fit = fit_of(errors_, other, projection_.columns());
    return found.fit.correlation - fit.correlation < indistinct && fit.slope_is_one();
  }

  [[nodiscard]] std::vector<double> errors_by(std::size_t format, RoundedFactors which) const {
    std::vector<double> errors;
    for (std::size_t i = 0; i < all_.size(); ++i)
      errors.push_back(error_of(all_[i][format], which) / sample_.elements()[i].spread);
    return errors;
  }

  const Sample& sample_;
  Projection projection_;
  std::vector<double> errors_;
  double size_ = 0.0;
  std::vector<std::array<FactorErrors, all_narrow_formats.size()>> all_;
};

// Whether factors rounded to TF32, the finest of the formats, make errors that are not larger than the
// layer's.
bool may_be_rounded_factors(const Sample& sample) {
  const auto errors = sample.map<FactorErrors>(pilot, [](const ProductTerms& terms, const Element&) {
    return factor_errors(terms, NarrowFormat::tf32);
  });
  std::array<double, 2> squares{};
  for (std::size_t i = 0; i < errors.size(); ++i) {
    squares[0] += squared(errors[i].first / sample.elements()[i].spread);
    squares[1] += squared(errors[i].second / sample.elements()[i].spread);
  }
  const double size = sample.rms_error();
  return std::ranges::any_of(squares, [&](double sum) {
    const double least = too_small * too_small * std::sqrt(sum / static_cast<double>(errors.size()));
    return sum > 0.0 && size >= least;
  });
}

std::optional<LowerPrecision> find_rounded_factors(const SumsOfProducts& sums,
                                                   std::span<const Bounded> reference,
                                                   std::span<const float> got, ThreadPool& threads) {
  for (const std::int64_t count : correlated) {
    const Sample sample(sums, reference, got, count, threads);
    if (sample.elements().size() < min_for_correlation) return std::nullopt;
    const Correlation correlation(sample);
    const auto found = correlation.best();
    if (!found) return std::nullopt;
    if (found->fit.certain() && !correlation.placebo_follows(*found))
      return LowerPrecision{true, true, found->fit.correlation, 0.0,
                            text_of(*found, sample.elements().size())};
    if (static_cast<std::int64_t>(reference.size()) <= count) break;
  }
  return std::nullopt;
}

// The largest root mean square error of the other orders, in units of the spreads.
double largest_of_other_orders(const Sample& sample) {
  double largest = 0.0;
  for (std::size_t order = 0; order < other_orders(); ++order) {
    const auto errors =
        sample.map<double>(sample.elements().size(), [&](const ProductTerms& terms, const Element& element) {
          return (static_cast<double>(other_sum(terms, order)) - element.sum.value) / element.spread;
        });
    largest = std::fmax(largest, rms_of(errors));
  }
  return largest;
}

std::optional<LowerPrecision> find_large_errors(const Sample& sample) {
  const ErrorModel& model = current_error_model();
  if (!model.rounds_to_nearest || sample.elements().size() < min_for_size) return std::nullopt;
  const double rounding = rms_of_rounding * model.unit_roundoff;
  const double size = sample.rms_error();
  double allowed =
      rounding * sample.rms([](const Element& element) { return element.sum.walk / element.spread; });
  if (size <= spread_of_algorithms * allowed) return std::nullopt;
  const auto ascending =
      sample.map<double>(sample.elements().size(), [](const ProductTerms& terms, const Element& element) {
        return (static_cast<double>(ascending_sum(terms)) - element.sum.value) / element.spread;
      });
  allowed = std::fmax(allowed, rms_of(ascending));
  if (size <= spread_of_algorithms * allowed) return std::nullopt;
  allowed = std::fmax(allowed, largest_of_other_orders(sample));
  if (!(size > spread_of_algorithms * allowed)) return std::nullopt;
  const double any =
      rounding * sample.rms([](const Element& element) { return element.sum.any_walk / element.spread; });
  LowerPrecision found;
  found.certain = size > spread_of_algorithms * std::fmax(allowed, any);
  found.size = size / allowed;
  found.reason = fmt::format(
      "its errors are {:.0f} × as large as those of float32 sums (root mean square, the least exact of {} "
      "orders), as with a narrower type",
      found.size, other_orders() + 1);
  return found;
}

}  // namespace

bool worth_a_look(std::span<const Bounded> reference, std::span<const float> got, std::int64_t products) {
  const ErrorModel& model = current_error_model();
  if (!(model.unit_roundoff <= 0x1p-23) || products < min_products) return false;
  const double terms = static_cast<double>(products);
  double squares = 0.0;
  std::size_t count = 0;
  for (const std::int64_t at : places_of(correlated[0], static_cast<std::int64_t>(reference.size()))) {
    const Bounded& want = reference[static_cast<std::size_t>(at)];
    const double error = static_cast<double>(got[static_cast<std::size_t>(at)]) - want.value;
    const double magnitude = want.worst / (terms * model.unit_roundoff);
    if (!std::isfinite(error) || !std::isfinite(magnitude) || !(magnitude > 0.0)) continue;
    squares += squared(error / magnitude);
    ++count;
  }
  // One factor of each product rounded to TF32, all products alike: larger where they differ.
  constexpr double tf32 = 0x1p-11;
  constexpr double half = 0.5;
  return count > 0 && std::sqrt(squares / static_cast<double>(count)) >=
                          half * too_small * rms_of_rounding * tf32 / std::sqrt(terms);
}

std::optional<LowerPrecision> find_lower_precision(const SumsOfProducts& sums,
                                                   std::span<const Bounded> reference,
                                                   std::span<const float> got, ThreadPool& threads) {
  const Sample sample(sums, reference, got, first_look, threads);
  if (sample.elements().empty()) return std::nullopt;
  if (may_be_rounded_factors(sample))
    if (auto found = find_rounded_factors(sums, reference, got, threads)) return found;
  return find_large_errors(sample);
}

}  // namespace driftscope
