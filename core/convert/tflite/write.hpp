// A graph of TensorFlow's operators as a .tflite file. Clients: to_tflite.cpp, tests.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/convert/tf/tf_graph.hpp"

namespace driftscope::tflite {

/// One operator per node where TensorFlow Lite has it, with no activation fused; tensors have the names of
/// the graph's values, as have the inputs and outputs of the signature "serving_default". `metadata`: texts
/// that are kept in the file; `description`: the model's. The
[[nodiscard]] Result<std::vector<std::byte>> write(const tf::TfGraph& graph,
                                                   const std::map<std::string, std::string>& metadata = {},
                                                   const char* description = "Written by Driftscope");

}  // namespace driftscope::tflite
