// Compiled for size on the web (cmake/core.cmake).
#include "core/runtime/resolve_target.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace driftscope {
namespace {

Status check_wasm_build(const std::string& build, const std::string& host) {
  if (host == "pc")
    return bad_input(
        fmt::format("option wasm={}: it chooses between builds for browsers, and {} is not a browser; remove "
                    "it",
                    build, host));
  if (std::ranges::find(wasm_builds, build) == wasm_builds.end())
    return bad_input(fmt::format("option wasm={}: expected {}", build, fmt::join(wasm_builds, ", ")));
  return {};
}

}  // namespace

Result<ResolvedTarget> resolve_target(const Target& target) {
  ResolvedTarget resolved;
  DRIFTSCOPE_TRY(resolved.engine, find_engine(target.engine));
  const EngineInfo& info = resolved.engine->info();
  if (!runs_on(info, target.host))
    return bad_input(
        fmt::format("engine {} runs {} only", info.name, info.on_pc ? "on the PC" : "in browsers"));
  auto options = target.options;
  if (const auto build = options.find("wasm"); build != options.end()) {
    DRIFTSCOPE_CHECK(check_wasm_build(build->second, target.host));
    options.erase(build);
  }
  DRIFTSCOPE_TRY(resolved.options, read_engine_options(info, options));
  return resolved;
}

}  // namespace driftscope
