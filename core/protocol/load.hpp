// The service's "load": bytes → a graph with shapes inferred. Client: service.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "core/base/byte_source.hpp"
#include "core/base/result.hpp"
#include "core/graph/graph.hpp"
#include "core/model/model_source.hpp"
#include "core/runtime/bind_inputs.hpp"
#include "generated/protocol/messages.hpp"

namespace driftscope {

struct LoadedModel {
  std::string sha256;
  std::shared_ptr<const Graph> graph;         ///< shapes inferred, symbolic dimensions unbound
  std::shared_ptr<const ModelSource> source;  ///< null unless the requested engine reads it
  bool once = false;                          ///< loaded for a single session
  bool weights_consumed = false;              ///< that session has begun
};

/// `payload` is needed until this returns; with `payload_stays`, for a model loaded for a single session,
/// until that is prepared: an engine that can then reads weights as it needs them.
[[nodiscard]] Result<LoadedModel> load_model(const messages::Load& request, ByteSource payload,
                                             bool payload_stays = false);

/// The inputs of a session and its graph, with shapes bound. If the model was loaded for a single
/// session, the weights are moved into it.
[[nodiscard]] Result<BoundInputs> bind_model(LoadedModel& model, const NamedInputs& inputs);

/// The graph without its larger constants: enough for names, and for shapes of other inputs. The remaining
/// constants are in memory.
[[nodiscard]] std::shared_ptr<const Graph> without_weights(const Graph& graph);

/// An error if the model's weights have been moved to a session.
[[nodiscard]] Status expect_whole(const LoadedModel& model);

/// The reply to "load".
[[nodiscard]] messages::LoadResponse describe_model(const LoadedModel& model);

}  // namespace driftscope
