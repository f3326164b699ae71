// What nodes and graphs take in memory without the data of their tensors, which is shared between copies: for
// limits on what is made of a model. Client: onnx_functions.cpp.
#pragma once

#include <cstdint>

#include "core/model/model.hpp"

namespace driftscope {

/// About so many bytes, of a copy.
[[nodiscard]] std::int64_t bytes_of(const Attribute::Value& value);
[[nodiscard]] std::int64_t bytes_of(const ModelNode& node);
/// Graphs inside included: what rewriting it copies.
[[nodiscard]] std::int64_t bytes_of(const ModelGraph& graph);

}  // namespace driftscope
