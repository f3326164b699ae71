#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "core/base/checked.hpp"
#include "core/base/float_bits.hpp"
#include "core/base/rng.hpp"
#include "core/base/sha256.hpp"
#include "core/base/simd/sha256_blocks.hpp"
#include "core/platform/platform.hpp"

namespace driftscope::test::base_test {
namespace {

std::string sha256_of(const std::string& text) { return sha256_hex(std::as_bytes(std::span(text))); }
}  // namespace

TEST_CASE("Sha256_MatchesFips180Vectors") {
  CHECK(sha256_of("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256_of("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(sha256_of(std::string(1'000'000, 'a')) ==
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("Sha256_Instructions_AgreeWithPortableCode") {
  Rng rng(7);
  std::vector<std::byte> blocks(64 * 9);
  for (std::byte& byte : blocks) byte = static_cast<std::byte>(rng.below(256));
  for (std::size_t count = 0; count <= 9; ++count) {
    Sha256State one = {1, 2, 3, 4, 5, 6, 7, 0xffffffff};
    Sha256State other = one;
    sha256_compress(one, blocks.data(), count);
    sha256_compress_portable(other, blocks.data(), count);
    CHECK(one == other);
  }
}

TEST_CASE("CheckedProduct_RefusesOverflowAndNegativeSizes") {
  const std::int64_t big = std::numeric_limits<std::int64_t>::max();
  CHECK(checked_product(std::array<std::int64_t, 3>{2, 3, 4}) == 24);
  CHECK(checked_product(std::array<std::int64_t, 0>{}) == 1);
  CHECK(checked_product(std::array<std::int64_t, 2>{big, 0}) == 0);
  CHECK_FALSE(checked_product(std::array<std::int64_t, 2>{big, 2}));
  CHECK_FALSE(checked_product(std::array<std::int64_t, 3>{0, 3, -1}));
}

TEST_CASE("UlpDistance_CountsFloatsAcrossZero") {
  CHECK(ulp_distance(1.0f, std::nextafterf(1.0f, 2.0f)) == 1);
  CHECK(ulp_distance(0.0f, -0.0f) == 0);
  const float tiny = std::numeric_limits<float>::denorm_min();
  CHECK(ulp_distance(-tiny, tiny) == 2);
  CHECK(ulp_distance(std::numeric_limits<float>::max(), INFINITY) == 1);
}

TEST_CASE("SameResult_TellsZerosApartAndNanTogether") {
  CHECK(same_result(NAN, -NAN));
  CHECK_FALSE(same_result(0.0f, -0.0f));
  CHECK_FALSE(same_result(NAN, 1.0f));
}

TEST_CASE("HalfUlp_IsHalfTheSpacingOfFloats") {
  CHECK(half_ulp_f32(1.0) == 0x1p-24);
  CHECK(half_ulp_f32(1.99) == 0x1p-24);
  CHECK(half_ulp_f32(-4.0) == 0x1p-22);
  CHECK(half_ulp_f32(0.0) == 0x1p-150);
  CHECK(half_ulp_f32(0x1p-140) == 0x1p-150);
}

TEST_CASE("Rng_HasTheReferenceSequenceOfSplitMix64") {
  // First outputs for seed 1234567, from the reference implementation (Vigna 2015).
  Rng rng(1234567);
  CHECK(rng.next() == 6457827717110365317ull);
  CHECK(rng.next() == 3203168211198807973ull);
  CHECK(rng.next() == 9817491932198370423ull);
}

TEST_CASE("ThreadPool_CoversEveryItemOnceForAnySizeAndGrain") {
  for (const int threads : {1, 2, 4}) {
    ThreadPool pool(threads);
    for (const std::int64_t count : {0, 1, 7, 1000}) {
      for (const std::int64_t grain : {1, 3, 5000}) {
        std::vector<int> hits(static_cast<std::size_t>(count), 0);
        pool.parallel_for(count, grain, [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t i = begin; i < end; ++i) ++hits[static_cast<std::size_t>(i)];
        });
        for (const int hit : hits) REQUIRE(hit == 1);
      }
    }
  }
}

}  // namespace driftscope::test::base_test
