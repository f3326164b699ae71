// The door's "load": bytes → a graph with shapes inferred. Client: door.
#pragma once

#include <cstddef>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "core/base/result.hpp"
#include "core/graph/graph.hpp"
#include "core/model/model_source.hpp"

namespace driftscope {

struct LoadedModel {
  std::string sha256;
  std::shared_ptr<const Graph> graph;  ///< shapes inferred, symbolic dimensions unbound
  std::shared_ptr<const ModelSource> source;  ///< null unless the engine asked for reads it
};

[[nodiscard]] Result<LoadedModel> load_model(const nlohmann::json& request,
                                             std::span<const std::byte> payload);

/// The reply to "load".
[[nodiscard]] nlohmann::json describe_model(const LoadedModel& model);

}  // namespace driftscope
