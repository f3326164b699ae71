// A graph of ours as a TensorFlow.js graph model: model.json and its weights in shards. Clients: the engines
// tfjs-*, driftscope export.
#pragma once

#include "core/convert/converted_model.hpp"

namespace driftscope::convert::tfjs {

/// A convert::Converter.
[[nodiscard]] Result<ConvertedModel> convert(const Graph& graph, const ConvertOptions& options);

}  // namespace driftscope::convert::tfjs
