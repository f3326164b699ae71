// Values that lie in a temporary file instead of memory.
#include "native/host/spilled_values.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <csignal>
#include <cstring>
#include <fstream>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "core/platform/platform.hpp"

namespace driftscope::test::spilled_values_test {
namespace {

Tensor counting(std::int64_t elements, float first) {
  std::vector<float> values(static_cast<std::size_t>(elements));
  std::iota(values.begin(), values.end(), first);
  auto tensor = Tensor::from_values<float>({elements}, values);
  REQUIRE(tensor.ok());
  return *std::move(tensor);
}

bool same(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() && a.byte_size() == b.byte_size() &&
         std::memcmp(a.bytes().data(), b.bytes().data(), a.byte_size()) == 0;
}

}  // namespace

TEST_CASE("SpilledValues_OfEverySize_AreTheSameBytesAfterRelease") {
  SpilledValues values;
  std::vector<Tensor> originals;
  std::vector<Tensor> spilled;
  for (const std::int64_t elements : {0, 1, 255, 256, 16'385, 300'000, 2'000'000, 17}) {
    originals.push_back(counting(elements, static_cast<float>(elements)));
    auto put = values.put(originals.back());
    REQUIRE(put.ok());
    spilled.push_back(*std::move(put));
  }
  values.release();
  for (std::size_t i = 0; i < originals.size(); ++i) CHECK(same(originals[i], spilled[i]));
  CHECK(spilled[2].bytes().data() == originals[2].bytes().data());  // below 1 KiB: in memory
  CHECK(spilled[3].bytes().data() != originals[3].bytes().data());
  for (const std::size_t i : {3, 4, 5, 6})
    CHECK(reinterpret_cast<std::uintptr_t>(spilled[i].bytes().data()) % 64 == 0);
}

TEST_CASE("SpilledValues_ManySmallOnes_ShareMappings") {
  const auto mappings = [] {
    std::ifstream maps("/proc/self/maps");
    std::int64_t lines = 0;
    for (std::string line; std::getline(maps, line);) ++lines;
    return lines;
  };
  SpilledValues values;
  const std::int64_t before = mappings();
  std::vector<Tensor> spilled;
  for (int i = 0; i < 3000; ++i) {
    auto put = values.put(counting(10'000, static_cast<float>(i)));
    REQUIRE(put.ok());
    spilled.push_back(*std::move(put));
  }
  CHECK(mappings() < before + 50);  // a process has 65530 by default
  values.release();
  for (int i = 0; i < 3000; i += 299)
    CHECK(same(spilled[static_cast<std::size_t>(i)], counting(10'000, static_cast<float>(i))));
}

TEST_CASE("SpilledValues_OutliveTheirStore") {
  std::optional<SpilledValues> values(std::in_place);
  const Tensor original = counting(100'000, 1.0f);
  const auto spilled = values->put(original);
  REQUIRE(spilled.ok());
  values.reset();
  CHECK(same(*spilled, original));
}

TEST_CASE("SpilledValues_DeferredOnes_AreReadOnceInPiecesOfTheirGrain") {
  const Tensor original = counting(600'000, 3.0f);
  std::uint64_t read = 0;
  ByteSource source{original.byte_size(), [&](std::uint64_t offset, std::span<std::byte> to) {
                      CHECK(offset % 1000 == 0);
                      CHECK(to.size() <= 1 << 20);
                      read += to.size();
                      std::memcpy(to.data(), original.bytes().data() + offset, to.size());
                    }};
  source.grain = 1000;
  const auto deferred = Tensor::deferred(DType::float32, {600'000}, source);
  REQUIRE(deferred.ok());
  SpilledValues values;
  const auto spilled = values.put(*deferred);
  REQUIRE(spilled.ok());
  CHECK_FALSE(deferred->in_memory());
  CHECK(read == original.byte_size());
  CHECK(same(*spilled, original));
  // A small one as well: its source may be gone by the time it is used.
  const Tensor little = counting(10, 1.0f);
  const auto small = Tensor::deferred(
      DType::float32, {10}, {little.byte_size(), [&](std::uint64_t offset, std::span<std::byte> to) {
                               std::memcpy(to.data(), little.bytes().data() + offset, to.size());
                             }});
  REQUIRE(small.ok());
  const auto copied = values.put(*small);
  REQUIRE(copied.ok());
  CHECK(copied->in_memory());
  CHECK(same(*copied, little));
}

TEST_CASE("SpilledValues_WithoutRoomInTheFile_StayInMemory") {
  SpilledValues values;
  const Tensor original = counting(100'000, 5.0f);
  struct rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  struct rlimit little = before;
  little.rlim_cur = 100'000;  // bytes of a file
  const auto old = std::signal(SIGXFSZ, SIG_IGN);
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &little) == 0);
  const auto spilled = values.put(original);
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, old);
  REQUIRE(spilled.ok());
  CHECK(spilled->bytes().data() == original.bytes().data());
}

}  // namespace driftscope::test::spilled_values_test
