// A graph of ours as a TensorFlow.js graph model: model.json and its weights in shards. Clients: the engines
// tfjs-*, driftscope export.
#pragma once

#include <string_view>

#include "core/convert/converted_model.hpp"

namespace driftscope::convert::tfjs {

/// A convert::Converter.
[[nodiscard]] Result<ConvertedModel> convert(const Graph& graph, const ConvertOptions& options);

/// Whether the name is one that names_by_contents gives: "group1-shard1of2-0123456789abcdef.bin".
[[nodiscard]] bool is_named_by_contents(std::string_view name);

}  // namespace driftscope::convert::tfjs
