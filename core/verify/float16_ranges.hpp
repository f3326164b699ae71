// Each layer's numbers beside the range of float16: what overflows in it, what would, and what becomes 0.
// Of a model in float32 it says whether float16 would do. Client: the command explain; it judges nothing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/graph/graph.hpp"
#include "core/platform/platform.hpp"
#include "core/trace/trace_view.hpp"
#include "core/verify/verify.hpp"

namespace driftscope {

/// An output of a node, computed exactly from the recorded inputs.
struct Float16Range {
  std::string node = {};
  std::string op = {};
  std::string output = {};  ///< value name
  std::string dtype = {};   ///< of the run
  std::int64_t elements = 0;
  double largest = 0.0;        ///< magnitude of the results
  double partial_sum = 0.0;    ///< PartialSums::largest; 0: nothing is added up, or it is not known
  double any_order = 0.0;      ///< PartialSums::any_order
  std::int64_t sampled = 0;    ///< sums that were looked at where not all were; 0: all
  double headroom = 0.0;       ///< 65,504 ÷ the largest of result and partial sum; below 1 it overflows
  std::int64_t below = 0;      ///< results other than 0 below 2⁻²⁴, the smallest number of float16
  std::int64_t overflows = 0;  ///< elements recorded as infinity or NaN whose exact value is finite
  bool absorbed = false;       ///< it overflows, in it or on the way, and no output of the model shows it
};

/// Of floating outputs that were recorded and have a reference, in the graph's order. Errors: an input of the
/// model is missing; stopped by `progress`.
[[nodiscard]] Result<std::vector<Float16Range>> float16_ranges(const Graph& graph, const TraceView& trace,
                                                               ThreadPool& threads,
                                                               const VerifyProgress& progress = {});

}  // namespace driftscope
