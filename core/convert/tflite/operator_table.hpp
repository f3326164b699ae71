// Which operators of TensorFlow's registry TensorFlow Lite has, and how each is written. Filled from
// operators/ by the build. Clients: write.cpp, dialect.cpp.
#pragma once

#include <map>
#include <string_view>

#include "core/base/result.hpp"
#include "core/convert/tf/tf_graph.hpp"

namespace driftscope::tflite {

class Builder;

/// Writes a node; the error says why it cannot be expressed, without the node.
using WriteNode = Status (*)(Builder& builder, const tf::Node& node);

/// By the operator's name in TensorFlow's registry: "Conv2D".
using OperatorTable = std::map<std::string_view, WriteNode>;

[[nodiscard]] const OperatorTable& operator_table();

}  // namespace driftscope::tflite
