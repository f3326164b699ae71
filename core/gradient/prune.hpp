// Leaves out what the outputs of a model's graph do not need. Client: gradient.cpp.
#pragma once

#include "core/model/model.hpp"

namespace driftscope {

/// Removes nodes, initializers and value infos that no output depends on; inputs stay.
void prune(ModelGraph& graph);

}  // namespace driftscope
