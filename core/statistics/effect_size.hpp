// Sizes of effects that need no distribution: how often is a value of one sample larger?
// Source: Vargha and Delaney 2000, "A critique and improvement of the CL common language effect size".
#pragma once

#include <span>
#include <string_view>

namespace driftscope {

/// A: the share of pairs (a, b) with a > b, and half of those with a = b: U ÷ (m·n). ½: none is larger.
/// Both samples have at least one value.
[[nodiscard]] double vargha_delaney(std::span<const double> a, std::span<const double> b);

/// The same over the pairs (a[i], b[i]) alone; equal lengths, at least 1.
[[nodiscard]] double paired_vargha_delaney(std::span<const double> a, std::span<const double> b);

/// "negligible", "small", "medium" or "large": the authors' bounds 0.56, 0.64, 0.71, and 1 − A alike.
[[nodiscard]] std::string_view vargha_delaney_size(double a);

}  // namespace driftscope
