// The seed of a randomised test: fixed, so that runs agree; DRIFTSCOPE_SEED=N uses another one.
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

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool sanitized = true;
#elif defined(__has_feature)
inline constexpr bool sanitized = __has_feature(address_sanitizer);
#else
inline constexpr bool sanitized = false;
#endif

/// How often a statistical test repeats. Sanitizers check the code, which an eighth of the
/// rounds covers as well, and cost thirty times the time.
template <class Count>
[[nodiscard]] constexpr Count repetitions(Count usual) {
  return sanitized ? (usual + 7) / 8 : usual;
}

}  // namespace driftscope::test

/// Shown when a check below it fails.
#define SEED_INFO(seed) INFO("replay with DRIFTSCOPE_SEED=" << (seed) << " and -tc of this test")
