// The first test of lower_precision.hpp: whether the errors of sums of products are those of factors rounded
// to a narrow format. Clients: lower_precision; rounded_groups shares the finding.
#pragma once

#include <optional>
#include <string_view>

#include "core/verify/finding.hpp"
#include "core/verify/narrow_factors.hpp"
#include "core/verify/product_sample.hpp"

namespace driftscope {

/// Errors smaller than this share of the hypothesis's errors do not come from it.
inline constexpr double min_share_of_hypothesis = 0.7;
/// Fewer elements are not enough; otherwise these numbers of elements are tried in turn.
inline constexpr std::size_t min_correlated = 32;
inline constexpr std::int64_t correlated_elements[] = {256, 1024};
/// If a placebo correlates with this share of the hypothesis's correlation, the data are too uniform.
inline constexpr double max_placebo = 0.7;

/// "precision.rounded_inputs", whose text is "as with inputs rounded to 10 bits (TF32): …"
[[nodiscard]] Finding rounded_factors_finding(RoundedFactors which, std::string_view format,
                                              std::size_t elements, double correlation);

/// Cheap test: whether the errors are at least those of factors rounded to TF32, the finest of the formats.
[[nodiscard]] bool may_be_rounded_factors(const ProductSample& sample);

[[nodiscard]] std::optional<Finding> find_rounded_factors(const SumsOfProducts& sums,
                                                          std::span<const Bounded> reference,
                                                          std::span<const float> got, const ErrorModel& model,
                                                          ThreadPool& threads);

}  // namespace driftscope
