// Reads what verify_json writes: driftscope-verify-1. The layers are read one by one, so that a document of a
// hundred thousand never lies in memory as JSON. Client: comparison_reader.
#pragma once

#include <string>

#include "core/base/json_fields.hpp"
#include "core/verify/layer_verdict.hpp"

namespace driftscope {

/// `suite`: whose budgets are read beside the verdict; empty: those of the first suite that there are any of,
/// which is then it.
[[nodiscard]] Status read_layer(const nlohmann::ordered_json& value, const JsonPath& path,
                                LayerVerdict& layer, std::string& suite);

/// All but the layers and the suite of their budgets. Whether it is of this format has been checked.
[[nodiscard]] Status read_verification(const nlohmann::ordered_json& value, const JsonPath& path,
                                       Verification& verification);

}  // namespace driftscope
