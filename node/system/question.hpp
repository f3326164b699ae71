// Questions to Node that are answered in JSON. Clients: node/os, node/bench.
#pragma once

#include <nlohmann/json.hpp>

namespace driftscope::node {

/// What System.ask of system.mjs answers; null when it fails. Waits.
[[nodiscard]] nlohmann::json ask(const nlohmann::json& question);

}  // namespace driftscope::node
