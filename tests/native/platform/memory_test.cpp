#include <doctest/doctest.h>
#include <sys/mman.h>

#include <cstring>

#include "core/platform/platform.hpp"

namespace driftscope {
namespace {

// Also between two full readings, which are far apart while they are expensive.
TEST_CASE("memory samples that follow each other closely see short-lived peaks") {
  constexpr std::int64_t size = std::int64_t{64} << 20;
  constexpr std::int64_t slack = std::int64_t{8} << 20;
  const MemorySample before = sample_memory();
  CHECK(before.kind == "process_pss");
  CHECK(before.bytes > 0);
  void* const pages = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(pages != MAP_FAILED);
  std::memset(pages, 1, size);
  const std::int64_t with = sample_memory().bytes;
  REQUIRE(munmap(pages, size) == 0);
  const std::int64_t after = sample_memory().bytes;
  CHECK(with - before.bytes > size - slack);
  CHECK(with - before.bytes < size + slack);
  CHECK(after - before.bytes > -slack);
  CHECK(after - before.bytes < slack);
}

}  // namespace
}  // namespace driftscope
