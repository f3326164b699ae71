// Whether long sums of products were computed with less precision than float32 has: factors rounded to TF32,
// float16 or bfloat16 first, or sums kept in a narrower type. Over thousands of terms such errors hide in the
// budget of the single element, but not in how all of them are distributed. docs/numerics.md, "Long sums",
// has the theory. Clients: verify. It judges no single element and knows nothing of traces.
//
// Two tests, on a sample of the elements:
// 1. Correlation. Factors rounded to a narrow format make an error that is known beforehand:
//    h = Σ(a' − a)·b + Σ a·(b' − b) + Σ(a' − a)(b' − b). The roundings of float32 sums know nothing of h, in
//    whatever order: e is independent of it. A layer whose errors follow h with slope 1 has rounded its
//    factors.
// 2. Size. The root mean square of e against what float32 sums lose, in the orders of summation that runtimes
//    use, on the same terms.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>

#include "core/numerics/bounded.hpp"
#include "core/verify/product_terms.hpp"

namespace driftscope {

class ThreadPool;

/// From how many products on a sum is looked at: shorter ones have budgets that these errors pass.
inline constexpr std::int64_t min_products = 1000;

struct LowerPrecision {
  bool certain = false;      ///< no order of float32 sums explains it: a fault, else suspect
  bool by_inputs = false;    ///< the first test: no algorithm in float32 explains it either
  double correlation = 0.0;  ///< of the errors with those of rounded factors, where by_inputs
  double size = 0.0;         ///< test 2: RMS error as a multiple of the worst order's, where not by_inputs
  std::string reason;        ///< "as with inputs rounded to 10 bits (TF32 or float16)…"
};

/// Whether the errors are large enough that the tests may find something: from the reference and its bounds
/// alone, so that most layers cost nothing further. `products`: the most that an element has.
[[nodiscard]] bool worth_a_look(std::span<const Bounded> reference, std::span<const float> got,
                                std::int64_t products);

/// What the tests say; nothing where they find nothing. The same on any number of threads. The error model
/// of the scope applies: test 2 is left out where it does not round to nearest.
[[nodiscard]] std::optional<LowerPrecision> find_lower_precision(const SumsOfProducts& sums,
                                                                 std::span<const Bounded> reference,
                                                                 std::span<const float> got,
                                                                 ThreadPool& threads);

}  // namespace driftscope
