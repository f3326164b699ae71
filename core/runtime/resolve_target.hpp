// Checks a target as far as possible without its host: the engine, and its options.
// Clients: the commands (before anything runs), the session service.
#pragma once

#include <array>
#include <string_view>

#include "core/runtime/engine.hpp"
#include "core/runtime/target.hpp"

namespace driftscope {

/// The builds for browsers: a browser's target may require one with the option wasm=BUILD, which belongs to
/// the host, not the engine.
inline constexpr std::array<std::string_view, 4> wasm_builds = {"relaxed-threads", "simd-threads", "relaxed",
                                                                "simd"};

struct ResolvedTarget {
  const Engine* engine = nullptr;
  EngineOptions options;
};

/// The error lists the alternatives. Not for host "file", which runs nothing.
[[nodiscard]] Result<ResolvedTarget> resolve_target(const Target& target);

}  // namespace driftscope
