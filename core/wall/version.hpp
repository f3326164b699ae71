// Versions of browsers and runtimes as they stand in documents: "Chromium 156.0.8078.108", "1.30.0",
// "Mozilla Firefox 153.8.0esr". Clients: the order of a wall's runs and how it names releases.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace driftscope::wall {

/// The numbers of the first version in a text: {156, 0, 8078, 108}; empty where there is none. What does not
/// fit is the largest number.
[[nodiscard]] std::vector<std::uint64_t> version_numbers(std::string_view text);

/// As numbers: 99 is before 100, 1.9 before 1.10, 1.2 equals 1.2.0. A text without a version is before all.
[[nodiscard]] std::strong_ordering compare_versions(std::string_view a, std::string_view b);

/// "Chromium 156", "WebKitGTK 2.50", "1.30": two numbers, or one where the second is 0.
[[nodiscard]] std::string short_version(std::string_view text);

/// The text without dotted numbers, for names that include the version of a driver: "llvmpipe (LLVM 19.1.7,
/// 256 bits)" is the same device as with LLVM 20.1.
[[nodiscard]] std::string without_versions(std::string_view text);

}  // namespace driftscope::wall
