// A sample of the elements of a tensor, spread over it, and what is known of the sum behind each.
// Clients: lower_precision, rounded_factors, rounded_groups.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "core/numerics/bounded.hpp"
#include "core/platform/platform.hpp"
#include "core/verify/float_orders.hpp"
#include "core/verify/product_terms.hpp"

namespace driftscope {

/// At most `limit` ascending indices of elements below `elements`, not in step with any axis.
[[nodiscard]] std::vector<std::int64_t> sampled_places(std::int64_t limit, std::int64_t elements);

struct SampledSum {
  std::int64_t at = 0;
  double error = 0.0;   ///< signed, in units of the sum's spread
  double spread = 0.0;  ///< that of `sum`; 0: of no use
  SumStatistics sum;
};

class ProductSample {
 public:
  /// Skips elements whose error is not a number, whose terms reach the subnormal range or whose sum may
  /// overflow.
  ProductSample(const SumsOfProducts& sums, std::span<const Bounded> reference, std::span<const float> got,
                std::int64_t limit, const ErrorModel& model, ThreadPool& threads);

  [[nodiscard]] std::span<const SampledSum> elements() const { return elements_; }

  /// The root mean square of value(element).
  template <class Value>
  [[nodiscard]] double rms(const Value& value) const {
    double squares = 0.0;
    for (const SampledSum& element : elements_) squares += value(element) * value(element);
    return elements_.empty() ? 0.0 : std::sqrt(squares / static_cast<double>(elements_.size()));
  }
  [[nodiscard]] double rms_error() const {
    return rms([](const SampledSum& element) { return element.error; });
  }

  /// compute(terms, element) for the first `count` elements.
  template <class Result, class Compute>
  [[nodiscard]] std::vector<Result> map(std::size_t count, const Compute& compute) const {
    std::vector<Result> results(std::min(count, elements_.size()));
    threads_.parallel_for(
        static_cast<std::int64_t>(results.size()), 4, [&](std::int64_t begin, std::int64_t end) {
          ProductTerms terms;
          for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
            sums_.read(elements_[i].at, terms);
            results[i] = compute(terms, elements_[i]);
          }
        });
    return results;
  }

 private:
  const SumsOfProducts& sums_;
  ThreadPool& threads_;
  std::vector<SampledSum> elements_;
};

}  // namespace driftscope
