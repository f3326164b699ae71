// Compiled for size on the web (cmake/core.cmake).
#include "core/engines/peer/rewritten.hpp"

#include <fmt/format.h>

#include "core/engines/peer/peer_engine.hpp"
#include "core/platform/platform.hpp"

namespace driftscope::peer {

Result<ModelOutline> rewritten_outline(const Engine& engine, std::shared_ptr<const ModelSource> source,
                                       const EngineOptions& options) {
  const auto* const peer = dynamic_cast<const PeerEngine*>(&engine);
  if (peer == nullptr) return unsupported(fmt::format("{} rewrites no ONNX model", engine.name()));
  if (peer->info_of_peer().takes != Takes::source)
    return unsupported(fmt::format("{} is given our graph", peer->info_of_peer().title));
  const Runtime& runtime = runtime_of(peer->info_of_peer());
  if (std::string why = runtime.hides_rewritten(); !why.empty()) return unsupported(std::move(why));
  CreateRequest request;
  request.model = source->model.bytes();
  request.source = source;
  request.threads = options.threads > 0 ? options.threads : usable_processors();
  request.options = options.values;
  for (const EngineOption& option : engine.info().options)
    if (!option.values.empty()) request.options.emplace(option.name, option.default_text);
  request.keep_rewritten = true;
  DRIFTSCOPE_TRY(const auto model, runtime.create(request));
  DRIFTSCOPE_TRY(const auto bytes, model->rewritten());
  return outline_model(bytes);
}

}  // namespace driftscope::peer
