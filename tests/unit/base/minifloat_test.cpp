// float8 and float4 against numbers that their definitions give (OCP 8-bit floating point and microscaling
// specifications, ONNX's tables), and against a search of all elements.
#include "core/base/minifloat.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <limits>
#include <string_view>
#include <vector>

#include "core/base/rng.hpp"

namespace driftscope::test::minifloat_test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

struct Known {
  std::string_view name;
  Minifloat format;
  unsigned count;  // of bit patterns
  unsigned largest;
  double value;  // of the largest
  unsigned smallest;
  double least;
};
const std::array known = {
    Known{"float8e4m3fn", float8e4m3fn_format, 256, 0x7e, 448, 0x01, 0x1p-9},
    Known{"float8e4m3fnuz", float8e4m3fnuz_format, 256, 0x7f, 240, 0x01, 0x1p-10},
    Known{"float8e5m2", float8e5m2_format, 256, 0x7b, 57344, 0x01, 0x1p-16},
    Known{"float8e5m2fnuz", float8e5m2fnuz_format, 256, 0x7f, 57344, 0x01, 0x1p-17},
    Known{"float8e8m0", float8e8m0_format, 256, 0xfe, 0x1p127, 0x00, 0x1p-127},
    Known{"float4e2m1", float4e2m1_format, 16, 0x7, 6, 0x1, 0.5},
};

}  // namespace

TEST_CASE("Minifloat_EndsOfEachFormat_AreThoseOfTheSpecifications") {
  for (const Known& it : known) {
    CAPTURE(it.name);
    CHECK(widen(it.format, it.largest) == it.value);
    CHECK(largest_of(it.format) == it.value);
    CHECK(widen(it.format, it.smallest) == it.least);
  }
  for (const unsigned bits : {0x7fu, 0xffu}) CHECK(std::isnan(widen(float8e4m3fn_format, bits)));
  CHECK(std::isnan(
      widen(float8e8m0_format, narrow(float8e8m0_format, 0x1.8p127, false, MinifloatRounding::down))));
  for (const Minifloat& format : {float8e4m3fnuz_format, float8e5m2fnuz_format})
    CHECK(std::isnan(widen(format, 0x80)));
  CHECK(widen(float8e5m2_format, 0x7c) == infinity);
  CHECK(widen(float8e5m2_format, 0xfc) == -infinity);
  for (const unsigned bits : {0x7du, 0x7eu, 0xffu}) CHECK(std::isnan(widen(float8e5m2_format, bits)));
  CHECK(std::isnan(widen(float8e8m0_format, 0xff)));
  const std::array fours = {0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0};
  for (unsigned bits = 0; bits < 8; ++bits) {
    CHECK(widen(float4e2m1_format, bits) == fours[bits]);
    CHECK(widen(float4e2m1_format, bits | 8) == -fours[bits]);
  }
}

TEST_CASE("Minifloat_EveryNumber_ComesBackAsItsOwnBits") {
  for (const Known& it : known)
    for (unsigned bits = 0; bits < it.count; ++bits) {
      const double value = widen(it.format, bits);
      if (std::isnan(value)) continue;
      CAPTURE(it.name);
      CAPTURE(bits);
      CHECK(narrow(it.format, value, false) == bits);
    }
}

// The nearest of all elements, of two equally near the even one; up and down by the definition.
TEST_CASE("Minifloat_Rounding_FindsWhatASearchFinds") {
  constexpr std::uint64_t seed = 20;
  CAPTURE(seed);
  Rng rng(seed);
  for (const Known& it : known) {
    CAPTURE(it.name);
    std::vector<std::pair<double, unsigned>> numbers;  // the positive ones, in order
    for (unsigned bits = 0; bits < it.count; ++bits)
      if (const double x = widen(it.format, bits); std::isfinite(x) && !std::signbit(x))
        numbers.emplace_back(x, bits);
    for (std::size_t i = 1; i < numbers.size(); ++i) REQUIRE(numbers[i].first > numbers[i - 1].first);
    for (std::size_t i = 0; i + 1 < numbers.size(); ++i) {
      const auto [low, low_bits] = numbers[i];
      const auto [high, high_bits] = numbers[i + 1];
      const double inside = low + (high - low) * rng.uniform();
      const double middle = low + (high - low) / 2;
      // Of a format without fraction ties go up.
      const unsigned even = it.format.fraction == 0 || high_bits % 2 == 0 ? high_bits : low_bits;
      CAPTURE(low);
      CHECK(narrow(it.format, middle, true) == even);
      if (inside > low) {
        CHECK(narrow(it.format, inside, true) == (inside < middle   ? low_bits
                                                  : inside > middle ? high_bits
                                                                    : even));
        CHECK(narrow(it.format, inside, true, MinifloatRounding::up) == high_bits);
        CHECK(narrow(it.format, inside, true, MinifloatRounding::down) == low_bits);
      }
    }
  }
}

TEST_CASE("Minifloat_BeyondTheLargest_AsInOnnxTables") {
  const auto made = [](const Minifloat& format, double x, bool saturate) {
    return widen(format, narrow(format, x, saturate));
  };
  for (const Known& it : known) {
    CAPTURE(it.name);
    for (const double x : {infinity, 1e300, 2 * it.value}) {
      CHECK(made(it.format, x, true) == it.value);
      if (it.format.has_sign) CHECK(made(it.format, -x, true) == -it.value);
    }
    if (it.name != "float4e2m1") CHECK(std::isnan(made(it.format, nan, true)));
  }
  CHECK(narrow(float4e2m1_format, nan, true) == 8);  // -0: there is no NaN
  CHECK(made(float4e2m1_format, -7, false) == -6);
  // Within half a step of the largest it is rounded to it, whether it saturates or not.
  CHECK(made(float8e4m3fn_format, 463.9, false) == 448);
  CHECK(std::isnan(made(float8e4m3fn_format, 465, false)));
  CHECK(made(float8e5m2_format, 61439, false) == 57344);
  CHECK(made(float8e5m2_format, 61440, false) == infinity);
  CHECK(made(float8e5m2_format, -infinity, false) == -infinity);
  CHECK(std::isnan(
      widen(float8e8m0_format, narrow(float8e8m0_format, 0x1.8p127, false, MinifloatRounding::down))));
  for (const Minifloat& format : {float8e4m3fnuz_format, float8e5m2fnuz_format, float8e8m0_format})
    for (const double x : {infinity, 1e300}) CHECK(std::isnan(made(format, x, false)));
}

TEST_CASE("Minifloat_Zeros_HaveTheSignThatTheFormatHas") {
  CHECK(narrow(float8e4m3fn_format, -0.0, true) == 0x80);
  CHECK(narrow(float8e5m2_format, -1e-30, true) == 0x80);
  CHECK(narrow(float8e4m3fnuz_format, -0.0, true) == 0);
  CHECK(narrow(float8e5m2fnuz_format, -1e-30, true) == 0);
  CHECK(narrow(float8e8m0_format, 0.0, true, MinifloatRounding::up) == 0);
  CHECK(narrow(float8e8m0_format, 0.0, false) == 0xff);
}

}  // namespace driftscope::test::minifloat_test
