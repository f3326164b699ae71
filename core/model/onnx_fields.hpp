// Field numbers of onnx.proto, for what changes the bytes of a model.
// Clients: graph_outputs.cpp, inside_outputs.cpp.
#pragma once

#include <cstdint>

namespace driftscope::onnx_field {

inline constexpr std::uint32_t model_graph = 7;
inline constexpr std::uint32_t graph_node = 1;
inline constexpr std::uint32_t graph_output = 12;
inline constexpr std::uint32_t value_info_name = 1;
inline constexpr std::uint32_t value_info_type = 2;
inline constexpr std::uint32_t type_tensor = 1;
inline constexpr std::uint32_t type_tensor_element = 1;
inline constexpr std::uint32_t type_tensor_shape = 2;
inline constexpr std::uint32_t shape_dimension = 1;
inline constexpr std::uint32_t dimension_value = 1;
inline constexpr std::uint32_t node_input = 1;
inline constexpr std::uint32_t node_output = 2;
inline constexpr std::uint32_t node_op_type = 4;
inline constexpr std::uint32_t node_attribute = 5;
inline constexpr std::uint32_t node_domain = 7;
inline constexpr std::uint32_t attribute_name = 1;
inline constexpr std::uint32_t attribute_tensor = 5;
inline constexpr std::uint32_t attribute_graph = 6;
inline constexpr std::uint32_t attribute_ints = 8;
inline constexpr std::uint32_t attribute_type = 20;
inline constexpr std::uint32_t tensor_dims = 1;
inline constexpr std::uint32_t tensor_dtype = 2;
inline constexpr std::uint32_t tensor_raw = 9;

}  // namespace driftscope::onnx_field
