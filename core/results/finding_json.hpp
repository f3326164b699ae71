// Findings in documents: {"id": "precision.rounded_inputs", "numbers": {…}, "words": {…}, "elements":
// [[0,3]], "text": "…"}; what is empty is left out. Clients: verify_json, comparison_reader.
#pragma once

#include <span>

#include "core/base/json_fields.hpp"
#include "core/verify/finding.hpp"

namespace driftscope {

[[nodiscard]] nlohmann::ordered_json findings_json(std::span<const Finding> findings);

/// One of a list as findings_json writes it. An id that this build does not know keeps its sentence.
[[nodiscard]] Status read_json(const nlohmann::ordered_json& value, const JsonPath& path, Finding& finding);

}  // namespace driftscope
