// What is wrong with a layer, as one sentence. Clients: the table of verify, the report, checks.
#pragma once

#include <string>

#include "core/verify/verify.hpp"

namespace driftscope {

/// "worst at [0, 3, 0, 2]: got 17, expected 16"
[[nodiscard]] std::string worst_text(const WorstElement& worst);

/// Why the layer has its verdict: its reason, or how far beyond its budget it is; of suspects and faults with
/// the worst element.
[[nodiscard]] std::string finding_text(const LayerVerdict& layer);

}  // namespace driftscope
