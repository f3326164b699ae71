// The seed of a randomised test: fixed, so that runs agree; DRIFTSCOPE_SEED=N replays another one.
// Clients: property tests. Each prints it with its messages through SEED_INFO.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <cstdlib>
#include <string>

namespace driftscope::test {

inline std::uint64_t test_seed(std::uint64_t usual) {
  const char* given = std::getenv("DRIFTSCOPE_SEED");
  return given == nullptr ? usual : std::strtoull(given, nullptr, 10);
}

}  // namespace driftscope::test

/// Shown when a check below it fails.
#define SEED_INFO(seed) \
  INFO("replay with DRIFTSCOPE_SEED=" << (seed) << " and -tc of this test")
