// Sums of products in double: the bits of the plain loop, whatever the processor has.
#include "core/numerics/simd/exact_product.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "core/base/rng.hpp"
#include "tests/unit/support/seed.hpp"

namespace driftscope::test::exact_product_test {

TEST_CASE("ExactProduct_HasTheBitsOfThePlainLoop") {
  const std::uint64_t seed = test_seed(71);
  SEED_INFO(seed);
  Rng rng(seed);
  for (const Factors factors : {Factors::single, Factors::wide})
    for (int round = 0; round < 40; ++round) {
      const auto depth = static_cast<std::int64_t>(1 + rng.below(300));
      const auto columns = static_cast<std::int64_t>(16 * (1 + rng.below(4)));
      // Wide ones have bits below those of a float: their products are rounded.
      const auto draw = [&] {
        const double x = static_cast<double>(rng.normal());
        return factors == Factors::wide ? x / 3.0 : x;
      };
      std::vector<double> a(static_cast<std::size_t>(exact_rows * depth));
      std::vector<double> b(static_cast<std::size_t>(exact_columns * depth));
      for (double& x : a) x = draw();
      for (double& x : b) x = draw();
      std::vector<double> values(static_cast<std::size_t>(exact_rows * exact_columns), 0.25);
      std::vector<double> magnitudes(values.size(), 0.5);
      std::vector<double> want = values;
      std::vector<double> want_size = magnitudes;
      for (std::int64_t k = 0; k < depth; ++k)
        for (std::int64_t r = 0; r < exact_rows; ++r)
          for (std::int64_t j = 0; j < columns; ++j) {
            const auto at = static_cast<std::size_t>(r * exact_columns + j);
            const double product = a[static_cast<std::size_t>(exact_rows * k + r)] *
                                   b[static_cast<std::size_t>(exact_columns * k + j)];
            want[at] += product;
            want_size[at] += std::fabs(product);
          }
      CAPTURE(depth);
      CAPTURE(columns);
      std::vector<double> alone = values;
      accumulate_exact(factors, a.data(), b.data(), depth, columns, alone.data(), nullptr);
      accumulate_exact(factors, a.data(), b.data(), depth, columns, values.data(), magnitudes.data());
      CHECK(alone == want);
      CHECK(values == want);
      CHECK(magnitudes == want_size);
    }
}

}  // namespace driftscope::test::exact_product_test
