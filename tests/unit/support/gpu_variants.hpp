// Every shader that the plans of the GPU engines can ask for, by planning random nodes of each operator of
// their table, fused or not, for each kind of device and each tile: nothing runs, no GPU is needed. Clients:
// the tests that compile them natively and in browsers.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/device/device.hpp"

namespace driftscope::test {

struct ShaderVariant {
  std::string file;
  std::string code;
};

struct ShaderVariants {
  /// Sources that differ in more than their numbers.
  std::vector<ShaderVariant> all;
  /// By operator of the table: how many of its random nodes were planned without strict.
  std::map<std::string, int> nodes;
};

/// Of each operator until so many random nodes in a row have brought nothing new.
[[nodiscard]] ShaderVariants shader_variants(gpu::Api api, int quiet);

}  // namespace driftscope::test
