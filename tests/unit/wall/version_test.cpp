// Versions are compared as numbers, whatever stands around them.
#include "core/wall/version.hpp"

#include <doctest/doctest.h>

namespace driftscope::test::wall_version_test {
namespace {

using namespace wall;

bool before(std::string_view a, std::string_view b) { return compare_versions(a, b) < 0; }

TEST_CASE("WallVersions_AreComparedAsNumbers") {
  CHECK(before("Chromium 99.0", "Chromium 100.0"));
  CHECK(before("1.9.0", "1.10.0"));
  CHECK(before("Mozilla Firefox 153.8.0esr", "Mozilla Firefox 153.10.0esr"));
  CHECK(before("", "0.1"));
  CHECK(before("of the browser", "0"));
  CHECK(compare_versions("1.2", "1.2.0") == 0);
  CHECK(compare_versions("", "") == 0);
  CHECK(before("ort 18446744073709551615", "ort 99999999999999999999.1"));  // the largest, and more behind it
}

TEST_CASE("WallVersions_OfWords_AreNotThoseInsideThem") {
  CHECK(version_numbers("x86_64 webgl2").empty());
  CHECK(version_numbers("ort-webgpu 1.30.0") == std::vector<std::uint64_t>{1, 30, 0});
  CHECK(version_numbers("1.2.3.4.5.6.7.8.9.10").size() == 8);
  CHECK(version_numbers("7.") == std::vector<std::uint64_t>{7});
}

TEST_CASE("WallVersions_Short_HaveTwoNumbersAtMost") {
  CHECK(short_version("Chromium 156.0.8078.108") == "Chromium 156");
  CHECK(short_version("WebKitGTK 2.50.6") == "WebKitGTK 2.50");
  CHECK(short_version("unknown") == "unknown");
}

TEST_CASE("WallVersions_InNamesOfDevices_AreLeftOut") {
  CHECK(without_versions("llvmpipe (LLVM 19.1.7, 256 bits)") ==
        without_versions("llvmpipe (LLVM 20.1, 256 bits)"));
  CHECK(without_versions("NVIDIA GeForce RTX 4070") == "NVIDIA GeForce RTX 4070");
  CHECK(without_versions("a 1.") == "a 1.");
}

}  // namespace
}  // namespace driftscope::test::wall_version_test
