// Which opsets there are operators for; models of ONNX opset 1 to 6, read as opset 7: most operators are
// unchanged, the others are rewritten here or rejected by the operator. Clients: build, find_operator, and
// where shapes enter operators (infer_shapes, evaluate).
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string_view>
#include <type_traits>

#include "core/base/result.hpp"
#include "core/graph/graph.hpp"
#include "core/model/model.hpp"

namespace driftscope {

/// The newest opset of ONNX whose operators were compared with those here. Between 21 and it they only took
/// in more types, except where a shape rule says so (QuantizeLinear, DequantizeLinear). Nodes of later ones
/// are opaque.
inline constexpr std::int64_t max_known_opset = 28;

/// The opset version with which a node of the ONNX domain is run: at least 7.
[[nodiscard]] std::int64_t effective_opset(std::int64_t opset);

/// Drops attributes that had a meaning only before opset 7: consumed_inputs, is_test = 1, broadcast = 1
/// without axis (numpy's rule, which opset 7 made the only one). broadcast with axis remains as
/// broadcast_axis of the elementwise operator, see legacy_aligned.
/// Errors (unsupported): a form without an equivalent in opset 7; a node in training mode.
[[nodiscard]] Status modernize(ModelNode& node, std::int64_t opset);

inline constexpr std::string_view broadcast_axis = "broadcast_axis";

/// The shape of the second input of a node with broadcast_axis (whose first axis lies at that axis of
/// the first input), made to align at the end by appending ones. Sizes: a vector of int64 or of
/// Dimension. Any other node's shape is left as it is, and so is one that is already aligned.
/// Errors: the axes reach beyond those of the first input.
template <class Sizes>
[[nodiscard]] Result<Sizes> legacy_aligned(const Node& node, const Sizes& first, Sizes second) {
  const Attribute* const attribute = node.attribute(broadcast_axis);
  const auto* const given = attribute == nullptr ? nullptr : std::get_if<std::int64_t>(&attribute->value);
  if (given == nullptr) return second;
  const auto rank = static_cast<std::int64_t>(first.size());
  const std::int64_t axis = *given < 0 ? *given + rank : *given;
  if (axis < 0 || axis > rank || axis + static_cast<std::int64_t>(second.size()) > rank)
    return bad_input(
        fmt::format("attribute axis: {} of an input of rank {} leaves no room for the {} "
                    "axes of input 1",
                    *given, rank, second.size()));
  typename Sizes::value_type one{};
  if constexpr (std::is_integral_v<typename Sizes::value_type>)
    one = 1;
  else
    one.size = 1;
  second.resize(static_cast<std::size_t>(rank - axis), one);
  return second;
}

}  // namespace driftscope
