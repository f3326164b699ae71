// Keys that a document may have, for files that people write: an unknown key is a slip of the pen there.
// Clients: readers of studies and matrices.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "core/base/result.hpp"

namespace driftscope {

/// `known`: a document in which every key is there, lists with one element. The error, "models[0].pth: there
/// is no such field; expected …": the first key of `given` that `known` does not have, and those there.
[[nodiscard]] Status check_keys(const nlohmann::ordered_json& given, const nlohmann::ordered_json& known);

}  // namespace driftscope
