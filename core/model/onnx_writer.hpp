// A Model as the bytes of an .onnx file (ModelProto), weights inside. Clients: models read from other
// formats, which engines, browsers and peers then get as ONNX. It writes what the reader reads; functions and
// external data are gone after reading.
#pragma once

#include <cstddef>
#include <vector>

#include "core/base/result.hpp"
#include "core/model/model.hpp"

namespace driftscope {

/// Errors: beyond max_protobuf_bytes, an attribute or initializer without a value that can be written.
[[nodiscard]] Result<std::vector<std::byte>> write_onnx(const Model& model);

}  // namespace driftscope
