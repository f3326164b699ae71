// The engine ort on the PC if ONNX Runtime's C header was missing when this was compiled.
#include "core/engines/peer/absent_runtime.hpp"

namespace driftscope::ort {

const peer::Runtime& runtime() {
  static const peer::AbsentRuntime absent(
      "this build lacks ONNX Runtime: its header onnxruntime_c_api.h (package libonnxruntime-dev) was not "
      "found; run tools/setup and build again");
  return absent;
}

}  // namespace driftscope::ort
