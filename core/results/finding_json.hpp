// Findings in documents: {"id": "precision.rounded_inputs", "numbers": {…}, "words": {…}, "elements":
// [[0,3]], "text": "…"}; what is empty is left out. Client: the code generated from the schema of
// verifications.
#pragma once

#include "core/base/json_fields.hpp"
#include "core/verify/finding.hpp"

namespace driftscope {

[[nodiscard]] nlohmann::ordered_json encode(const Finding& finding);

/// As encode writes it. An id that this build does not know keeps its sentence.
[[nodiscard]] Status read_json(const nlohmann::ordered_json& value, const JsonPath& path, Finding& finding);

}  // namespace driftscope
