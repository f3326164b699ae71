// Values of layers out of traces, for published tables of them. Client: the runner of studies.
#pragma once

#include "core/graph/graph.hpp"
#include "core/study/study_cells.hpp"
#include "core/trace/trace.hpp"

namespace driftscope {

/// The first and the largest difference of `there`, over the floats that both have under the same name and in
/// the same shape, in the order of `base`.
[[nodiscard]] LayerValues compare_layers(const Trace& base, const Trace& there);

/// The elements of a value that a published table has, by column; none where the trace does not hold the
/// value. Errors: the model has no such value or operator.
[[nodiscard]] Result<std::vector<std::optional<double>>> chosen_values(
    const Graph& graph, const documents::PublishedValues& wanted, const Trace& trace);

}  // namespace driftscope
