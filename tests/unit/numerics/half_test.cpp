// Conversions of 16-bit floats by vectors against those element by element.
#include "core/numerics/simd/half.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <numeric>
#include <vector>

#include "core/base/rng.hpp"

namespace driftscope::test::half_test {
namespace {

void check_widen(SmallFloat format) {
  std::vector<std::uint16_t> bits(65536);
  std::iota(bits.begin(), bits.end(), std::uint16_t{0});
  std::vector<float> values(bits.size());
  widen(format, bits, values);
  int different = 0;
  for (std::size_t i = 0; i < bits.size(); ++i)
    different += std::bit_cast<std::uint32_t>(values[i]) !=
                 std::bit_cast<std::uint32_t>(static_cast<float>(widen(format, bits[i])));
  CHECK(different == 0);
}

void check_narrow(SmallFloat format, const std::vector<float>& values) {
  std::vector<std::uint16_t> bits(values.size());
  narrow(format, values, bits);
  int different = 0;
  for (std::size_t i = 0; i < bits.size(); ++i) different += bits[i] != narrow(format, double{values[i]});
  CHECK(different == 0);
}

// Every number of the format, the ties between neighbours, and the floats beside both.
std::vector<float> boundaries(SmallFloat format) {
  std::vector<float> values;
  for (std::uint32_t i = 0; i < 65535; ++i) {
    const double here = widen(format, static_cast<std::uint16_t>(i));
    const double next = widen(format, static_cast<std::uint16_t>(i + 1));
    for (const double x : {here, here / 2 + next / 2}) {
      const auto value = static_cast<float>(x);
      for (const float y : {value, std::nextafterf(value, -INFINITY), std::nextafterf(value, INFINITY)})
        values.push_back(y);
    }
  }
  return values;
}

TEST_CASE("all 16-bit floats are widened exactly") {
  check_widen(float16_format);
  check_widen(bfloat16_format);
}

TEST_CASE("floats are rounded to 16 bits at every boundary") {
  check_narrow(float16_format, boundaries(float16_format));
  check_narrow(bfloat16_format, boundaries(bfloat16_format));
}

TEST_CASE("random bits are rounded to 16 bits, infinity and NaN among them, in any number") {
  Rng rng(20);
  for (std::size_t count : {0, 1, 3, 17, 100'000}) {
    std::vector<float> values(count);
    for (float& x : values) x = std::bit_cast<float>(static_cast<std::uint32_t>(rng.next()));
    check_narrow(float16_format, values);
    check_narrow(bfloat16_format, values);
  }
}

}  // namespace
}  // namespace driftscope::test::half_test
