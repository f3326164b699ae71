// Findings in documents: {"id": "precision.rounded_inputs", "numbers": {…}, "words": {…}, "elements":
// [[0,3]], "text": "…"}; what is empty is left out. Clients: verify_json, comparison_reader.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/base/json.hpp"
#include "core/verify/finding.hpp"

namespace driftscope {

[[nodiscard]] nlohmann::ordered_json findings_json(std::span<const Finding> findings);

/// Of a list as findings_json writes it; nothing where it is none. An id that this build does not know keeps
/// its sentence.
[[nodiscard]] std::optional<std::vector<Finding>> findings_of(const nlohmann::json& list);

}  // namespace driftscope
