#include <doctest/doctest.h>

#include <string>

#include "core/dataset/cifar10.hpp"
#include "core/dataset/idx.hpp"
#include "unit/support/files.hpp"
#include "unit/support/mutate.hpp"
#include "unit/support/seed.hpp"
#include "unit/support/text.hpp"

namespace driftscope::test::image_formats_test {
namespace {

std::vector<std::byte> bytes_of(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

std::string idx_failure(const std::string& text) {
  const auto tensor = read_idx(bytes_of(text));
  REQUIRE_MESSAGE(!tensor.ok(), "the file was accepted");
  return tensor.error().message;
}

const std::string small_idx(
    "\0\0\x08\x02\0\0\0\x02\0\0\0\x03"
    "abcdef",
    18);

}  // namespace

TEST_CASE("Idx_BigEndianDimensions") {
  const auto tensor = read_idx(bytes_of(small_idx));
  REQUIRE(tensor.ok());
  CHECK(tensor->dtype() == DType::uint8);
  CHECK(tensor->shape() == Shape{2, 3});
  CHECK(tensor->values<std::uint8_t>()[5] == 'f');
}

TEST_CASE("Idx_CutShortOrTooLong_SaysBothSizes") {
  for (std::size_t size = 0; size < small_idx.size(); ++size)
    CHECK_FALSE(read_idx(bytes_of(small_idx.substr(0, size))).ok());
  CHECK(holds(idx_failure(small_idx.substr(0, 17)), "needs 6 bytes, got 5"));
  CHECK(holds(idx_failure(small_idx + "g"), "needs 6 bytes, got 7"));
}

TEST_CASE("Idx_WrongMagic_IsNamed") {
  CHECK(holds(idx_failure(std::string("\x1f\x8b\x08\0", 4)), "gunzip"));
  CHECK(holds(idx_failure(std::string("\0\0\x0d\x01\0\0\0\x01"
                                      "abcd",
                                      12)),
              "0x0d"));
  CHECK(holds(idx_failure("PNG....."), "expected 0000"));
  CHECK(holds(idx_failure(std::string("\0\0\x08\0", 4)), "no dimensions"));
  // 255 dimensions of 2³² − 1.
  CHECK_FALSE(read_idx(bytes_of(std::string("\0\0\x08\xff", 4) + std::string(4 * 255, '\xff'))).ok());
}

TEST_CASE("Idx_TestDigits_AreRead") {
  const auto images = read_idx(repository_file("assets/data/digits-test-images.idx3-ubyte"));
  const auto labels = read_idx(repository_file("assets/data/digits-test-labels.idx1-ubyte"));
  REQUIRE(images.ok());
  REQUIRE(labels.ok());
  CHECK(images->shape() == Shape{450, 28, 28});
  CHECK(labels->shape() == Shape{450});
}

TEST_CASE("Cifar10_Records") {
  std::string record(3073, '\x10');
  record[0] = '\x07';
  record[3072] = '\x22';
  std::string two = record + record;
  two[3073] = '\x09';
  const auto set = read_cifar10(bytes_of(two));
  REQUIRE(set.ok());
  CHECK(set->labels == std::vector<std::int64_t>{7, 9});
  CHECK(set->images.shape() == Shape{2, 3, 32, 32});
  CHECK(set->images.values<std::uint8_t>()[3071] == 0x22);
  CHECK(set->images.values<std::uint8_t>()[3072] == 0x10);
}

TEST_CASE("Cifar10_CutShortOrWrongLabel_IsRejected") {
  const std::string record(3073, '\0');
  for (const std::size_t size : {0, 1, 3072, 3074, 6145}) {
    const auto set = read_cifar10(bytes_of(std::string(size, '\0')));
    REQUIRE_FALSE(set.ok());
    CHECK(holds(set.error().message, "3073"));
  }
  const auto set = read_cifar10(bytes_of(record + "\x0a" + record.substr(1)));
  REQUIRE_FALSE(set.ok());
  CHECK(holds(set.error().message, "sample 1 has label 10"));
}

TEST_CASE("Idx_Mutations_AreReadOrRejected") {
  const std::uint64_t seed = test_seed(5);
  SEED_INFO(seed);
  Rng rng(seed);
  for (int i = 0; i < 5000; ++i) {
    const auto tensor = read_idx(mutated(bytes_of(small_idx), rng));
    if (tensor.ok()) CHECK(tensor->elements() <= 32);
  }
}

}  // namespace driftscope::test::image_formats_test
