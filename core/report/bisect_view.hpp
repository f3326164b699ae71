// A bisection over an option as text and as JSON. Client: the bisect command.
#pragma once

#include <string>

#include "core/compare/level_bisect.hpp"

namespace driftscope {

/// A row per level, then what was rewritten at the first that differs, and at the first with a worse verdict.
[[nodiscard]] std::string bisect_text(const LevelBisect& bisect);

/// {"format":"driftscope-bisect-1","over","model_sha256","levels":[{"level","target","error"?,"differs",
///  "different_elements","elements","max_abs","max_ulp","verdict","first_fault","values","nodes"}],
///  "differs_at","verdict_worse_at","steps":[{"from","to","first":{"value","node","op",…}|null,
///  "culprit":0|null,"replaced":[{"nodes":[{"name","op"}],"by":[…],"outputs":[…]}],"vanished":[…]}],
///  "no_nodes_because"?}
[[nodiscard]] std::string bisect_json(const LevelBisect& bisect, const std::string& model_sha256);

}  // namespace driftscope
