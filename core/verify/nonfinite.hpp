// Outputs of a model that hold NaN or infinity, and where these begin. Two targets that both answer nothing
// but NaN agree bit for bit, and every layer is right for its inputs: no verdict says it. Clients: verify,
// which finds them; headline, tables, report and checks, which say them. It judges nothing.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/graph/graph.hpp"
#include "core/verify/layer_verdict.hpp"

namespace driftscope {

class RecordedValues;

/// Fills `nan`, `inf` and `elements` of metrics that nothing was compared for.
void count_nonfinite(const Tensor& got, Metrics& metrics);

/// The outputs of the model that hold NaN or infinity, in the model's order, each with the value where they
/// begin: the earliest recorded one behind the output that holds some while none that it is computed from
/// does. Layers tell how many each holds; inputs and constants are looked at.
[[nodiscard]] std::vector<NonFiniteOutput> nonfinite_outputs(const Graph& graph,
                                                             const RecordedValues& recorded,
                                                             std::span<const LayerVerdict> layers);

/// "all 128 elements of y are NaN (first at n)"; several outputs with "; " between them, at most three. Empty
/// where there are none.
[[nodiscard]] std::string nonfinite_text(const Verification& verification);

/// ", 128 NaN, 3 infinite" as it stands behind a layer's verdict; empty where all elements are finite.
[[nodiscard]] std::string nonfinite_mark(const Metrics& metrics);

}  // namespace driftscope
