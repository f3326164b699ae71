// Cast between every pair of types, against C++'s own conversions from long double, which holds every
// number of every type exactly.
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/base/half.hpp"
#include "unit/ops/one_node.hpp"

namespace driftscope::test {
namespace {

constexpr std::array types = {DType::boolean,  DType::int8,    DType::uint8,  DType::int16,  DType::uint16,
                              DType::int32,    DType::uint32,  DType::int64,  DType::uint64, DType::float16,
                              DType::bfloat16, DType::float32, DType::float64};

/// Calls f<T>() with the C++ type that holds an element's bits.
template <class F>
void with_bits(DType dtype, F&& f) {
  switch (dtype) {
    case DType::boolean:
    case DType::uint8: return f.template operator()<std::uint8_t>();
    case DType::int8: return f.template operator()<std::int8_t>();
    case DType::int16: return f.template operator()<std::int16_t>();
    case DType::uint16:
    case DType::float16:
    case DType::bfloat16: return f.template operator()<std::uint16_t>();
    case DType::int32: return f.template operator()<std::int32_t>();
    case DType::uint32: return f.template operator()<std::uint32_t>();
    case DType::int64: return f.template operator()<std::int64_t>();
    case DType::uint64: return f.template operator()<std::uint64_t>();
    case DType::float32: return f.template operator()<float>();
    case DType::float64: return f.template operator()<double>();
    default: FAIL("no such type");
  }
}

/// Every value of a type of up to 16 bits; for others, the values around which something changes.
template <class T>
std::vector<T> values_of(DType dtype) {
  std::vector<T> values;
  if constexpr (sizeof(T) <= 2) {
    const int count = dtype == DType::boolean ? 2 : 1 << (8 * sizeof(T));
    for (int bits = 0; bits < count; ++bits) values.push_back(static_cast<T>(bits));
  } else {
    std::vector<long double> edges = {0.0L};
    for (int e = -160; e <= 130; ++e)
      for (const long double part : {1.0L, 1.25L, 1.5L, 1.00048828125L, 1.00390625L, 1.01171875L})
        edges.push_back(std::ldexp(part, e));
    for (int e = 7; e <= 64; ++e)
      for (long double by = -3.0L; by <= 3.0L; ++by) edges.push_back(std::ldexp(1.0L, e) + by);
    // Ties of every type with their neighbours, large enough that a detour through double loses the 1.
    for (int e = 11; e <= 63; ++e)
      for (const int fraction : {7, 10, 23, 52})
        for (long double by = -1.0L; by <= 1.0L && e > fraction; ++by)
          edges.push_back(std::ldexp(1.0L, e) + std::ldexp(1.0L, e - fraction - 1) + by);
    using Limits = std::numeric_limits<T>;
    for (const long double edge : edges)
      for (const long double x : {edge, -edge}) {
        const bool inside =
            x >= static_cast<long double>(Limits::lowest()) && x <= static_cast<long double>(Limits::max());
        if (inside) values.push_back(static_cast<T>(x));
      }
    values.push_back(Limits::lowest());
    values.push_back(Limits::max());
    if constexpr (std::is_floating_point_v<T>) {
      values.push_back(Limits::quiet_NaN());
      values.push_back(Limits::infinity());
      values.push_back(-Limits::infinity());
      values.push_back(Limits::denorm_min());
      values.push_back(T{-0.0});
    }
  }
  return values;
}

long double exactly(DType dtype, auto x) {
  if (dtype == DType::float16) return widen(float16_format, static_cast<std::uint16_t>(x));
  if (dtype == DType::bfloat16) return widen(bfloat16_format, static_cast<std::uint16_t>(x));
  return static_cast<long double>(x);
}

/// The nearest number with `fraction` bits behind the leading one and exponents from `lowest` to `highest`,
/// ties to even.
long double rounded_to(long double x, int fraction, int lowest, int highest) {
  if (x == 0.0L || !std::isfinite(x)) return x;
  const int exponent = std::max(std::ilogb(x), lowest) - fraction;
  const long double y = std::ldexp(std::nearbyint(std::ldexp(x, -exponent)), exponent);
  const long double overflow = std::ldexp(1.0L, highest + 1);
  return std::fabs(y) < overflow ? y : std::copysign(std::numeric_limits<long double>::infinity(), x);
}

/// The expected result of `x` as an element of `to`.
long double converted(long double x, DType to) {
  switch (to) {
    case DType::boolean: return x != 0.0L ? 1.0L : 0.0L;
    case DType::float16: return rounded_to(x, 10, -14, 15);
    case DType::bfloat16: return rounded_to(x, 7, -126, 127);
    case DType::float32: return rounded_to(x, 23, -126, 127);
    case DType::float64: return rounded_to(x, 52, -1022, 1023);
    default: return x;
  }
}

bool same(long double a, long double b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

/// Integers keep their low bits; real numbers are truncated towards zero and saturate at the limits.
template <class T>
long double as_integer(DType from, auto bits, long double x) {
  if (!is_floating(from)) return static_cast<long double>(static_cast<T>(bits));
  if (std::isnan(x)) return 0.0L;
  const auto low = static_cast<long double>(std::numeric_limits<T>::min());
  const auto high = static_cast<long double>(std::numeric_limits<T>::max());
  return std::trunc(std::fmin(std::fmax(x, low), high)) + 0.0L;  // no negative zero
}

template <class T>
T element(const Tensor& tensor, std::size_t i) {
  T value;
  std::memcpy(&value, tensor.bytes().data() + i * sizeof(T), sizeof(T));
  return value;
}

/// The results of the strict kernel and of the reference in double for every value, against `want`.
template <class From>
void check_pair(DType from, DType to) {
  const std::vector<From> values = values_of<From>(from);
  const auto input =
      Tensor::from_bytes(from, {static_cast<std::int64_t>(values.size())}, std::as_bytes(std::span(values)));
  REQUIRE(input.ok());
  const OneNode node{"Cast", {*input}, {integer("to", static_cast<std::int64_t>(to))}};
  const auto strict = strict_outputs(node.graph(), node.named());
  REQUIRE_MESSAGE(strict.ok(), strict.error().message);
  ThreadPool threads(1);
  const Graph graph = node.graph();
  const auto reference = run_graph<double>(graph, node.named(), threads);
  REQUIRE_MESSAGE(reference.ok(), reference.error().message);
  const auto lowered = lower((*reference)[graph.outputs[0]]);
  REQUIRE(lowered.ok());
  with_bits(to, [&]<class To>() {
    int wrong = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const long double x = exactly(from, values[i]);
      long double want = converted(x, to);
      if (!is_floating(to) && to != DType::boolean) want = as_integer<To>(from, values[i], x);
      const long double got = exactly(to, element<To>((*strict)[0], i));
      const long double value = exactly(to, element<To>(*lowered, i));
      // By way of float32, as every CPU runtime does.
      const long double twice = converted(converted(x, DType::float32), to);
      const bool strict_is_right =
          same(got, want) || (to == DType::bfloat16 && !is_floating(from) && same(got, twice));
      if ((!strict_is_right || !same(value, want)) && ++wrong <= 3)
        FAIL_CHECK(dtype_name(from), " to ", dtype_name(to), ": ", static_cast<double>(x), " gives ",
                   static_cast<double>(got), " (reference ", static_cast<double>(value), "), expected ",
                   static_cast<double>(want));
    }
    CHECK(wrong == 0);
  });
}

}  // namespace

TEST_CASE("Cast_EveryPairOfTypes_IsTheNearestNumber" * doctest::test_suite("slow")) {
  for (const DType from : types)
    for (const DType to : types) with_bits(from, [&]<class From>() { check_pair<From>(from, to); });
}

TEST_CASE("ConstantOfShape_Float64_KeepsItsDigits") {
  const OneNode node{
      "ConstantOfShape", {longs({2})}, {tensor_attribute("value", tensor<double>({1}, {0.1}))}};
  CHECK(node.numbers() == std::vector<double>{0.1, 0.1});
}

}  // namespace driftscope::test
