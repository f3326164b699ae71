// Tensors of traces that other programs made, in other types than the model's values: frameworks count in
// int32 and compute in float64. They are converted where that means the same, and it is said. Clients: the
// command line (reads such traces), hosts/file, views.
#pragma once

#include <string>
#include <vector>

#include "core/graph/graph.hpp"
#include "core/trace/trace_view.hpp"

namespace driftscope {

/// A tensor that is taken in the type and shape of the model's value.
struct ConvertedValue {
  std::size_t entry = 0;  ///< its place in the trace
  DType dtype = DType::undefined;
  Shape shape;
  std::string text;  ///< "x: int32 taken as int64"
};

/// What differs and may be converted (can_convert; [1] for a scalar input and the other way round). Nothing
/// of a trace that states that it is of this very model: there a wrong type is a fault.
[[nodiscard]] std::vector<ConvertedValue> match_types(const Graph& graph, const TraceView& trace);

void convert_types(const std::vector<ConvertedValue>& converted, TraceView& trace);
/// Notes in `run` what was converted ("converted").
[[nodiscard]] Status convert_types(const std::vector<ConvertedValue>& converted, Trace& trace);

/// "3 tensors were converted: x: int32 taken as int64, …"; empty when there is nothing to report.
[[nodiscard]] std::string type_match_text(const std::vector<ConvertedValue>& converted);
/// The same of a trace that was converted.
[[nodiscard]] std::string type_match_text(const Trace& trace);

}  // namespace driftscope
