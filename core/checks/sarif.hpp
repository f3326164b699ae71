// The checks as SARIF 2.1.0, which code hosts show beside a change and keep over time. Client: the command
// line (--sarif). https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
#pragma once

#include <string>
#include <string_view>

#include "core/checks/checks.hpp"

namespace driftscope {

/// One result for each check that failed, could not be made, or shows what does not count: level "error",
/// "error", and "warning" or "note". The file is the model, the place in it the layer; a fingerprint of
/// model, target, layer and condition tells what was there before. `model_path`: relative to the repository.
/// At most `max_results`, the failed ones first.
[[nodiscard]] std::string sarif_json(const CheckReport& checks, const ComparisonView& view,
                                     std::string_view model_path, std::string_view version,
                                     std::size_t max_results = 5000);

}  // namespace driftscope
