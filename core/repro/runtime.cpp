#include "core/repro/runtime.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace driftscope::repro {

Result<const Runtime*> runtime_for(const std::string& engine) {
  std::string known;
  for (const Runtime& runtime : runtime_table().all()) {
    if (std::ranges::find(runtime.engines, engine) != runtime.engines.end()) return &runtime;
    for (const std::string_view one : runtime.engines)
      known += (known.empty() ? "" : ", ") + std::string(one);
  }
  return unsupported(
      fmt::format("no report is written for engine {}; those that there are: {}", engine, known));
}

}  // namespace driftscope::repro
