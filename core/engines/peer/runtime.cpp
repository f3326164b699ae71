#include "core/engines/ort/backend.hpp"

#include <fmt/format.h>

namespace driftscope::ort {

std::string_view expected_version() { return DRIFTSCOPE_ONNXRUNTIME_VERSION; }

Error said(ErrorKind kind, std::string_view what) {
  // Some of its messages end with a line break.
  what = what.substr(0, what.find_last_not_of(" \n") + 1);
  return {kind, fmt::format("ONNX Runtime {} says: {}", expected_version(), what)};
}

}  // namespace driftscope::ort
