#include "core/engines/ort/backend.hpp"

#include <fmt/format.h>

namespace driftscope::ort {

std::string_view expected_version() { return DRIFTSCOPE_ONNXRUNTIME_VERSION; }

Error said(ErrorKind kind, std::string_view what) {
  return {kind, fmt::format("ONNX Runtime {} says: {}", expected_version(), what)};
}

}  // namespace driftscope::ort
