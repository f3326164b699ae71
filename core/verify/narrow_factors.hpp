// The errors of a sum of products whose factors are first rounded to a narrow format, and placebos
// of them: the same errors with pseudorandom signs per factor value. Clients: lower_precision.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/verify/product_terms.hpp"

namespace driftscope {

/// Formats to which hardware and libraries round the factors of float32 products.
enum class NarrowFormat { tf32, tf32_cut, float16, bfloat16, bfloat16_cut };
inline constexpr std::array<NarrowFormat, 5> all_narrow_formats = {
    NarrowFormat::tf32, NarrowFormat::tf32_cut, NarrowFormat::float16, NarrowFormat::bfloat16,
    NarrowFormat::bfloat16_cut};
[[nodiscard]] std::string_view narrow_format_text(NarrowFormat format);

/// Infinite where the format overflows; NaN stays NaN.
[[nodiscard]] float rounded_to(NarrowFormat format, float x);

/// For one element, without its scale: the error from rounding the first factors, the second, and both.
struct FactorErrors {
  double first = 0.0;
  double second = 0.0;
  double crossed = 0.0;
};
[[nodiscard]] FactorErrors factor_errors(const ProductTerms& terms, NarrowFormat format);

/// Which factors are rounded.
enum class RoundedFactors { both, first, second };
[[nodiscard]] double error_of(const FactorErrors& errors, RoundedFactors which);

/// Errors of the same sizes as factor_errors(…), each factor's with a sign determined by its bits and the
/// placebo's number: equal factors have equal signs, as equal factors have equal roundings.
inline constexpr std::size_t placebos = 16;
[[nodiscard]] std::array<double, placebos> placebo_errors(const ProductTerms& terms, NarrowFormat format,
                                                          RoundedFactors which);

}  // namespace driftscope
