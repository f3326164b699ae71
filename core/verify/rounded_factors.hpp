// The first test of lower_precision.hpp: whether the errors of sums of products are those of factors rounded
// to a narrow format. Clients: lower_precision; rounded_groups shares the words.
#pragma once

#include <optional>
#include <string>

#include "core/verify/narrow_factors.hpp"
#include "core/verify/product_sample.hpp"

namespace driftscope {

struct RoundedFactorsFound {
  double correlation = 0.0;
  std::string reason;
};

/// Errors of less than this share of a hypothesis's are not its.
inline constexpr double least_share_of_hypothesis = 0.7;
/// Fewer elements say nothing; then these many are tried, one after the other.
inline constexpr std::size_t min_correlated = 32;
inline constexpr std::int64_t correlated_elements[] = {256, 1024};
/// A placebo that is followed by this share of the hypothesis's correlation: the data are too much alike.
inline constexpr double max_placebo = 0.7;

/// "as with inputs rounded to 10 bits (TF32): …"
[[nodiscard]] std::string rounded_factors_text(RoundedFactors which, std::string_view format,
                                               std::size_t elements, double correlation);

/// Cheap: whether factors rounded to TF32, the finest of the formats, make errors no larger than these.
[[nodiscard]] bool may_be_rounded_factors(const ProductSample& sample);

[[nodiscard]] std::optional<RoundedFactorsFound> find_rounded_factors(const SumsOfProducts& sums,
                                                                      std::span<const Bounded> reference,
                                                                      std::span<const float> got,
                                                                      ThreadPool& threads);

}  // namespace driftscope
