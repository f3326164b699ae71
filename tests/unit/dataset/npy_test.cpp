#include "core/dataset/npy.hpp"

#include <doctest/doctest.h>

#include "unit/support/allocation_watch.hpp"
#include "unit/support/model_builder.hpp"
#include "unit/support/mutate.hpp"
#include "unit/support/seed.hpp"
#include "unit/support/text.hpp"

namespace driftscope::test::npy_test {
namespace {

/// A file of version 1 from its dictionary and data.
std::string npy(const std::string& header, const std::string& data) {
  std::string text = "\x93NUMPY";
  text += {'\x01', '\x00', static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
  return text + header + data;
}

std::string failure(const std::string& text) {
  const auto tensor = read_npy(bytes_of(text));
  REQUIRE_MESSAGE(!tensor.ok(), "the file was accepted");
  return tensor.error().message;
}

Tensor read(const std::string& text) {
  auto tensor = read_npy(bytes_of(text));
  REQUIRE_MESSAGE(tensor.ok(), tensor.error().message);
  return *std::move(tensor);
}

template <class T>
std::vector<T> values(const Tensor& tensor) {
  const auto view = tensor.values<T>();
  return {view.begin(), view.end()};
}

std::string dictionary(const std::string& descr, const std::string& order, const std::string& shape) {
  return "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
}

}  // namespace

TEST_CASE("Npy_AsNumPyWritesIt_IsRead") {
  // numpy.save of numpy.array([[1, 2, 3], [4, 5, 6]], numpy.int16): 128 bytes of header.
  std::string header = dictionary("<i2", "False", "(2, 3)");
  header.insert(header.size() - 1, 118 - header.size(), ' ');
  const std::string data("\x01\0\x02\0\x03\0\x04\0\x05\0\x06\0", 12);
  const Tensor tensor = read(npy(header, data));
  CHECK(tensor.shape() == Shape{2, 3});
  CHECK(values<std::int16_t>(tensor) == std::vector<std::int16_t>{1, 2, 3, 4, 5, 6});
}

TEST_CASE("Npy_FortranOrder_IsTurnedIntoRows") {
  const Tensor tensor = read(npy(dictionary("|u1", "True", "(2, 3, 2)"), "adbecfgjhkil"));
  // The element (i, j, k) lies at i + 2j + 6k.
  const std::string columns = "adbecfgjhkil";
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t j = 0; j < 3; ++j)
      for (std::size_t k = 0; k < 2; ++k)
        CHECK(tensor.values<std::uint8_t>()[(i * 3 + j) * 2 + k] == columns[i + 2 * j + 6 * k]);
}

TEST_CASE("Npy_BigEndian_IsTurned") {
  const Tensor tensor = read(npy(dictionary(">f4", "False", "(1,)"), std::string("\x3f\x80\0\0", 4)));
  CHECK(values<float>(tensor) == std::vector<float>{1.0f});
}

TEST_CASE("Npy_Versions2And3_HaveLongHeaders") {
  const std::string header = dictionary("<f4", "False", "()");
  for (const char version : {'\x02', '\x03'}) {
    std::string text = "\x93NUMPY";
    text += {version, '\0', static_cast<char>(header.size()), '\0', '\0', '\0'};
    text += header + std::string("\0\0\x80\x3f", 4);
    CHECK(read(text).shape().empty());
  }
  std::string later = npy(header, "1234");
  later[6] = '\x04';
  CHECK(holds(failure(later), "version 4"));
}

TEST_CASE("Npy_RoundTrip_IsExact") {
  for (const Tensor& wanted :
       {tensor<float>({}, {1.5f}), tensor<float>({0, 2}, {}), tensor<std::int64_t>({3}, {1, -2, 3}),
        tensor<double>({1, 2, 1}, {0.1, -0.0}), tensor<std::uint8_t>({2, 2}, {1, 2, 3, 255})}) {
    const auto bytes = write_npy(wanted);
    REQUIRE(bytes.ok());
    CHECK((bytes->size() - wanted.bytes().size()) % 64 == 0);
    const auto again = read_npy(*bytes);
    REQUIRE_MESSAGE(again.ok(), again.error().message);
    CHECK(again->dtype() == wanted.dtype());
    CHECK(again->shape() == wanted.shape());
    CHECK(std::ranges::equal(again->bytes(), wanted.bytes()));
  }
  const auto bf16 = Tensor::make(DType::bfloat16, {1});
  REQUIRE(bf16.ok());
  CHECK_FALSE(write_npy(*bf16).ok());
}

TEST_CASE("Npy_BadFiles_SayWhatIsWrong") {
  CHECK(holds(failure(""), "NUMPY"));
  CHECK(holds(failure("\x93NUMPY"), "within its header"));
  CHECK(holds(failure(npy(dictionary("<f4", "False", "(2,)"), "1234")), "needs 8 bytes, got 4"));
  CHECK(holds(failure(npy(dictionary("|O", "False", "(1,)"), "12345678")), "'|O'"));
  CHECK(holds(failure(npy(dictionary("<U5", "False", "()"), "")), "astype"));
  CHECK(holds(failure(npy("{'descr': [('a', '<f4')], }", "")), "structured"));
  CHECK(holds(failure(npy(dictionary("<f4", "Maybe", "()"), "1234")), "True or False"));
  CHECK(holds(failure(npy(dictionary("<f4", "False", "(-1,)"), "")), "a size"));
  CHECK(holds(failure(npy(dictionary("<f4", "False", "3"), "")), "'('"));
  CHECK(holds(failure(npy("{'shape': (1,), 'shape': (1,)}", "")), "twice"));
  CHECK(holds(failure(npy("{'other': 1}", "")), "unknown key 'other'"));
  CHECK(holds(failure(npy("{}", "")), "needs descr"));
  CHECK(holds(failure(npy("{'descr: ", "")), "closed"));
  CHECK(holds(failure(npy(dictionary("|b1", "False", "(1,)"), "\x02")), "expected 0 or 1"));
  std::string cut = npy(dictionary("<f4", "False", "()"), "");
  CHECK(holds(failure(cut.substr(0, 30)), "truncated"));
}

TEST_CASE("Npy_HugeShapes_NeverReachTheAllocator") {
  const AllocationWatch watch;
  for (const std::string shape :
       {"(9223372036854775807,)", "(4294967296, 4294967296)", "(99999999999999999999,)", "(1099511627776,)"})
    for (const std::string order : {"False", "True"})
      CHECK_FALSE(read_npy(bytes_of(npy(dictionary("<f8", order, shape), "1234"))).ok());
  CHECK(watch.largest() < 10'000);
}

TEST_CASE("Npy_Mutations_AreReadOrRejected") {
  const std::uint64_t seed = test_seed(3);
  SEED_INFO(seed);
  Rng rng(seed);
  const auto bytes = write_npy(tensor<float>({2, 3}, {1, 2, 3, 4, 5, 6}));
  REQUIRE(bytes.ok());
  for (int i = 0; i < 5000; ++i) {
    const auto damaged = mutated(*bytes, rng);
    const AllocationWatch watch;
    const auto read = read_npy(damaged);
    CHECK(watch.largest() < 10'000);
    if (!read.ok()) CHECK_FALSE(read.error().message.empty());
  }
}

}  // namespace driftscope::test::npy_test
