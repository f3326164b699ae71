// float16 in formats that have no arithmetic of it: float32 numbers that are rounded to it after every
// operator that would round. Client: from_onnx.cpp.
#pragma once

#include <string_view>

#include "core/base/result.hpp"
#include "core/convert/tf/operator_table.hpp"
#include "core/graph/graph.hpp"

namespace driftscope::tf {

/// The operator that rounds, of no domain: ONNX has none like it. Its lowering:
/// operators/round_to_float16.cpp.
inline constexpr std::string_view round_to_float16 = "RoundToFloat16";

/// Whether anything in it is float16.
[[nodiscard]] bool has_float16(const Graph& graph);

/// `graph` has every shape known, and no types are inferred afterwards. Values and constants of float16 are
/// float32 with the same numbers. Operators that only move numbers, or choose among them, stay; behind others
/// stands the one that rounds. For sums, products, quotients and roots of two numbers this is float16's own
/// arithmetic (float32 has more than twice its digits); for sums of many it is that of kernels that add in
/// float32.
[[nodiscard]] Result<Graph> with_float32(Graph graph);

}  // namespace driftscope::tf
