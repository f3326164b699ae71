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
  std::shared_ptr<const ModelSource> source;  ///< null unless the engine asked for reads it
  bool once = false;                          ///< loaded for one session
  bool spent = false;                         ///< and that session has begun
};

/// `payload` is needed until this returns; with `payload_stays`, of a model that is loaded for one session,
/// until that is prepared: an engine that can then reads weights from it as it needs them.
[[nodiscard]] Result<LoadedModel> load_model(const messages::Load& request, ByteSource payload,
                                             bool payload_stays = false);

/// The inputs of a session and the graph for it, with shapes bound. Of a model that was loaded for one
/// session the weights go with it.
[[nodiscard]] Result<BoundInputs> bind_model(LoadedModel& model, const NamedInputs& inputs);

/// The graph without its larger constants: enough for names, and for shapes of other inputs. None of the
/// others is deferred.
[[nodiscard]] std::shared_ptr<const Graph> without_weights(const Graph& graph);

/// An error where the model's weights have gone to a session.
[[nodiscard]] Status expect_whole(const LoadedModel& model);

/// The reply to "load".
[[nodiscard]] messages::LoadResponse describe_model(const LoadedModel& model);

}  // namespace driftscope
