// What the user gave, beside what the model wants: an unnamed tensor gets the name of the only input, one
// element is a scalar or [1], as the model has it, and an error lists what is missing, with type and shape.
// Clients: --input, the service. Sizes and types are checked by bind_inputs.
#pragma once

#include "core/runtime/bind_inputs.hpp"

namespace driftscope {

/// Errors: inputs without a name where several are wanted, inputs that are missing.
[[nodiscard]] Result<NamedInputs> fit_inputs(const Graph& graph, NamedInputs inputs);

}  // namespace driftscope
