// The gradient of a model as a model file, which every host runs. Clients: attacks, the hunt.
#pragma once

#include "core/gradient/gradient.hpp"
#include "native/host/model_file.hpp"

namespace driftscope {

/// Errors: as of make_gradient.
[[nodiscard]] Result<ModelFile> gradient_file(const ModelFile& model, const GradientRequest& request);

}  // namespace driftscope
