// Whether long sums of products were computed with less precision than float32: factors rounded to TF32,
// float16 or bfloat16 first, or sums kept in a narrower type. Over thousands of terms such errors hide in the
// budget of a single element, but not in their distribution. docs/numerics.md, "Long sums",
// has the theory. Client: judges/long_sums.cpp. It judges no single element and knows nothing of traces.
//
// Two tests, on a sample of the elements:
// 1. Correlation. Rounding factors to a narrow format makes an error that can be computed:
//    h = Σ(a' − a)·b + Σ a·(b' − b) + Σ(a' − a)(b' − b). The roundings of float32 sums are independent of h,
//    in any order of summation. A layer whose errors e follow h with slope 1 has rounded its
//    factors.
// 2. Size. The root mean square of e compared with that of float32 sums, in the orders of summation that
//    runtimes use, on the same terms.
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "core/numerics/bounded.hpp"
#include "core/verify/finding.hpp"
#include "core/verify/product_terms.hpp"

namespace driftscope {

class ThreadPool;

/// Minimum number of products of a sum to test: for shorter sums such errors exceed the budget.
inline constexpr std::int64_t min_products = 1000;

struct LowerPrecision {
  bool certain = false;    ///< no order of float32 sums explains it: a fault, otherwise suspect
  bool by_inputs = false;  ///< the first test: no algorithm in float32 explains it either
  Finding finding;         ///< of rounded inputs with the correlation; of large errors with their size
};

/// Whether the errors are large enough for the tests to find something: from the reference and its bounds
/// alone, so that most layers cost nothing more. `products`: the maximum over the elements.
[[nodiscard]] bool worth_a_look(std::span<const Bounded> reference, std::span<const float> got,
                                std::int64_t products, const ErrorModel& model);

/// What is found, or nothing. The same on any number of threads. Test 2 is left out where the model does not
/// round to nearest.
[[nodiscard]] std::optional<LowerPrecision> find_lower_precision(const SumsOfProducts& sums,
                                                                 std::span<const Bounded> reference,
                                                                 std::span<const float> got,
                                                                 const ErrorModel& model,
                                                                 ThreadPool& threads);

}  // namespace driftscope
