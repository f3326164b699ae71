// Reads the attributes of a node with the defaults of the ONNX specification.
// Clients: shape rules and kernels in ops/. An attribute of another kind than asked for is an error
// that names both; which attributes an operator has is not checked here.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/graph/graph.hpp"

namespace driftscope {

using Ints = std::vector<std::int64_t>;

[[nodiscard]] Result<std::int64_t> int_attribute(const Node& node, std::string_view name,
                                                 std::int64_t fallback);
[[nodiscard]] Result<float> float_attribute(const Node& node, std::string_view name, float fallback);
[[nodiscard]] Result<std::string> string_attribute(const Node& node, std::string_view name,
                                                   std::string_view fallback);
[[nodiscard]] Result<Ints> ints_attribute(const Node& node, std::string_view name, Ints fallback);

[[nodiscard]] Result<std::vector<float>> floats_attribute(const Node& node, std::string_view name,
                                                          std::vector<float> fallback);
[[nodiscard]] Result<std::vector<std::string>> strings_attribute(const Node& node, std::string_view name,
                                                                 std::vector<std::string> fallback);

/// An attribute of 0 or 1.
[[nodiscard]] Result<bool> flag_attribute(const Node& node, std::string_view name, bool fallback);

/// `axis` counted from the front: from [-rank, rank), or [-rank, rank] when `end_allowed`.
[[nodiscard]] Result<std::size_t> normalize_axis(std::int64_t axis, std::size_t rank,
                                                 bool end_allowed = false);

}  // namespace driftscope
