// engines/ort's backend where ONNX Runtime's C header was not there when this was compiled.
#include "core/engines/ort/backend.hpp"

namespace driftscope::ort {
namespace {

constexpr const char* reason =
    "this build lacks ONNX Runtime: its header onnxruntime_c_api.h (package libonnxruntime-dev) was not "
    "found; run tools/setup and build again";

class AbsentBackend final : public Backend {
 public:
  [[nodiscard]] Availability available() const override { return {false, reason}; }
  [[nodiscard]] std::string hides_optimized() const override { return reason; }
  [[nodiscard]] std::string lacks(DType /*dtype*/) const override { return reason; }
  [[nodiscard]] Result<std::unique_ptr<RuntimeModel>> create(const CreateRequest&) const override {
    return missing_error(reason);
  }
};

}  // namespace

const Backend& backend() {
  static const AbsentBackend the_backend;
  return the_backend;
}

}  // namespace driftscope::ort
