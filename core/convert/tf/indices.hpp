// Indices as TensorFlow takes them: from the front, ONNX's may count from the end. Clients: operators that
// gather and scatter.
#pragma once

#include "core/convert/tf/lowering.hpp"

namespace driftscope::tf {

/// The indices of an input along an axis of this size, negative ones made positive: known ones now, others by
/// nodes.
[[nodiscard]] Result<std::string> read_indices(Lowering& lowering, ValueId id, std::int64_t size);

}  // namespace driftscope::tf
