// A model that runs in another format, under our names: inputs and values are renamed, reordered and retyped
// on the way. Client: peer_engine.cpp.
#pragma once

#include <map>
#include <memory>

#include "core/engines/peer/runtime.hpp"

namespace driftscope::peer {

/// `model` runs `converted`; values are restored to what `graph` says of them.
[[nodiscard]] std::unique_ptr<RuntimeModel> under_our_names(
    std::unique_ptr<RuntimeModel> model, std::shared_ptr<const convert::ConvertedModel> converted,
    std::shared_ptr<const Graph> graph);

}  // namespace driftscope::peer
