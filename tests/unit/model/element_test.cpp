// Element types against literals of the formats' standards (onnx.proto, IEEE 754), and the visitors.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <set>

#include "core/model/tensor_elements.hpp"
#include "core/verify/metrics.hpp"

namespace driftscope::test::element_test {
namespace {

struct Expected {
  int number;  // of TensorProto.DataType
  std::string_view name;
  int bits;
};
constexpr std::array expected = {Expected{1, "float32", 32},      Expected{2, "uint8", 8},
                                 Expected{3, "int8", 8},          Expected{4, "uint16", 16},
                                 Expected{5, "int16", 16},        Expected{6, "int32", 32},
                                 Expected{7, "int64", 64},        Expected{8, "string", 0},
                                 Expected{9, "bool", 8},          Expected{10, "float16", 16},
                                 Expected{11, "float64", 64},     Expected{12, "uint32", 32},
                                 Expected{13, "uint64", 64},      Expected{14, "complex64", 64},
                                 Expected{15, "complex128", 128}, Expected{16, "bfloat16", 16},
                                 Expected{17, "float8e4m3fn", 8}, Expected{18, "float8e4m3fnuz", 8},
                                 Expected{19, "float8e5m2", 8},   Expected{20, "float8e5m2fnuz", 8},
                                 Expected{21, "uint4", 4},        Expected{22, "int4", 4},
                                 Expected{23, "float4e2m1", 4},   Expected{24, "float8e8m0", 8},
                                 Expected{25, "uint2", 2},        Expected{26, "int2", 2}};

Tensor packed(DType dtype, std::initializer_list<int> bytes, std::int64_t elements) {
  std::vector<std::byte> data;
  for (const int byte : bytes) data.push_back(static_cast<std::byte>(byte));
  return *Tensor::from_bytes(dtype, {elements}, data);
}

}  // namespace

TEST_CASE("Elements_RowsAreThoseOfOnnx") {
  for (const Expected& row : expected) {
    CAPTURE(row.name);
    const auto dtype = dtype_from_onnx(row.number);
    REQUIRE(dtype);
    CHECK(dtype_name(*dtype) == row.name);
    CHECK(bits_per_element(*dtype) == row.bits);
    int visited = 0;
    CHECK(visit_element(*dtype, [&]<class E>() { visited += E::dtype == *dtype && E::bits == row.bits; }));
    CHECK(visited == 1);
  }
  for (const int number : {0, 27, 28, -1, 256 + 1}) CHECK_FALSE(dtype_from_onnx(number));
  CHECK_FALSE(visit_element(DType::undefined, []<class E>() {}));
}

TEST_CASE("Elements_VisitorsChooseTheirTypes") {
  const auto visited_by = [](const auto& visit) {
    std::set<std::string_view> names;
    for (const Expected& row : expected) {
      const DType dtype = *dtype_from_onnx(row.number);
      if (visit(dtype)) names.insert(row.name);
    }
    return names;
  };
  const auto nothing = []<class E>() {};
  const std::set<std::string_view> floating = {"float16", "bfloat16", "float32", "float64"};
  std::set<std::string_view> integers = {"int8",  "uint8",  "int16", "uint16",
                                         "int32", "uint32", "int64", "uint64"};
  CHECK(visited_by([&](DType d) { return visit_floating(d, nothing); }) == floating);
  CHECK(visited_by([&](DType d) { return visit_plain_integer(d, nothing); }) == integers);
  CHECK(visited_by([](DType d) { return is_narrow_floating(d); }) ==
        std::set<std::string_view>{"float16", "bfloat16"});
  std::set<std::string_view> plain = integers;
  plain.insert("bool");
  plain.insert(floating.begin(), floating.end());
  CHECK(visited_by([&](DType d) { return visit_plain_number(d, nothing); }) == plain);
  const std::set<std::string_view> minifloats = {"float8e4m3fn",   "float8e4m3fnuz", "float8e5m2",
                                                 "float8e5m2fnuz", "float8e8m0",     "float4e2m1"};
  CHECK(visited_by([&](DType d) { return visit_minifloat(d, nothing); }) == minifloats);
  plain.insert(minifloats.begin(), minifloats.end());
  plain.insert({"int2", "uint2", "int4", "uint4"});
  CHECK(visited_by([&](DType d) { return visit_number(d, nothing); }) == plain);
  integers.insert({"int2", "uint2", "int4", "uint4"});
  CHECK(visited_by([](DType d) { return is_integer(d); }) == integers);
}

TEST_CASE("Elements_SmallFloatsHaveTheLimitsOfTheirFormats") {
  using Half = Element<DType::float16>;
  using Brain = Element<DType::bfloat16>;
  CHECK(Half::largest == 65504.0);
  CHECK(Half::smallest_normal == 0x1p-14);
  CHECK(Half::infinity_bits() == 0x7c00);
  CHECK(Half::digits == 11);
  CHECK(Brain::largest == 0x1.fep127);
  CHECK(Brain::smallest_normal == 0x1p-126);
  CHECK(Brain::infinity_bits() == 0x7f80);
  CHECK(Brain::digits == 8);
  CHECK(Element<DType::float32>::infinity_bits() == 0x7f800000u);
  CHECK(Element<DType::float64>::infinity_bits() == 0x7ff0000000000000ull);
}

TEST_CASE("Elements_NibblesAreLowHalfFirstAndSigned") {
  // 0x81: first 1, then 8, which is −8 as int4.
  const Tensor with_sign = packed(DType::int4, {0x81, 0x7f, 0x0e}, 5);
  CHECK(numbers_of(with_sign) == std::vector<double>{1, -8, -1, 7, -2});
  const Tensor without = packed(DType::uint4, {0x81, 0x7f, 0x0e}, 5);
  CHECK(numbers_of(without) == std::vector<double>{1, 8, 15, 7, 14});
  CHECK(number_at(with_sign, 1) == -8.0);

  Tensor written = packed(DType::int4, {0xff, 0xff}, 4);
  store_packed(written, 1, static_cast<unsigned>(-7));
  store_packed(written, 2, 3);
  CHECK(numbers_of(written) == std::vector<double>{-1, -7, 3, -1});

  // 0b11100100: 0, 1, 2 and 3 from the lowest bits up.
  CHECK(numbers_of(packed(DType::uint2, {0xe4, 0x02}, 5)) == std::vector<double>{0, 1, 2, 3, 2});
  CHECK(numbers_of(packed(DType::int2, {0xe4, 0x02}, 5)) == std::vector<double>{0, 1, -2, -1, -2});
  Tensor quarters = packed(DType::int2, {0xff}, 4);
  store_packed(quarters, 2, static_cast<unsigned>(-2));
  CHECK(numbers_of(quarters) == std::vector<double>{-1, -1, -2, -1});
  CHECK(numbers_of(packed(DType::float4e2m1, {0x7f, 0x01}, 3)) == std::vector<double>{-6, 6, 0.5});
  CHECK(numbers_of(packed(DType::float8e5m2, {0x3c, 0xc0}, 2)) == std::vector<double>{1, -2});
}

TEST_CASE("Elements_NothingIsANumberInComplexTensors") {
  const Tensor tensor = *Tensor::make(DType::complex64, {2});
  CHECK_FALSE(with_numbers(tensor, [](const auto&) {}));
  CHECK(numbers_of(tensor) == std::vector<double>{0, 0});
}

TEST_CASE("Measure_Minifloats_AreAsFarApartAsTheirNumbers_AndNanIsNan") {
  const auto metrics = measure(packed(DType::float8e4m3fn, {0x38, 0x7f, 0x00}, 3),
                               packed(DType::float8e4m3fn, {0x40, 0xff, 0x80}, 3));
  REQUIRE(metrics.ok());
  CHECK(metrics->different_elements == 2);  // 1 and 2; 0 and -0
  CHECK(metrics->max_abs == 1.0);
}

TEST_CASE("Measure_SignedNibbles_AreOneApartAcrossZero") {
  const auto metrics = measure(packed(DType::int4, {0xff}, 2), packed(DType::int4, {0xf0}, 2));
  REQUIRE(metrics.ok());
  CHECK(metrics->different_elements == 1);
  CHECK(metrics->max_abs == 1.0);
}

}  // namespace driftscope::test::element_test
