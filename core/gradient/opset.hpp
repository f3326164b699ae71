// The opset that gradients need. Client: gradient.cpp.
#pragma once

#include "core/base/result.hpp"
#include "core/model/model.hpp"

namespace driftscope {

/// Gradients need Pad, Slice and Equal as opset 11 has them.
inline constexpr std::int64_t min_gradient_opset = 11;

/// The model, with opset 11 if it has an older one whose operators mean the same there; otherwise an error
/// that names one that does not. IR version 3 models get 4, so that constants need not be inputs.
[[nodiscard]] Result<Model> with_gradient_opset(const Model& model);

}  // namespace driftscope
