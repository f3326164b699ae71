// Files of the repository for tests, by path from its root. Clients: tests; wasm reads them through
// Node's file system.
#pragma once

#include <doctest/doctest.h>

#include <cstddef>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

namespace driftscope::test {

/// Fails the test when the file is not there.
inline std::vector<std::byte> repository_file(const std::string& path) {
  std::ifstream file(std::string(DRIFTSCOPE_SOURCE_DIR) + "/" + path, std::ios::binary);
  REQUIRE_MESSAGE(file.good(), "cannot read " << path);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

}  // namespace driftscope::test
