#include "core/engines/fast/xnn.hpp"

#include <fmt/format.h>

namespace driftscope::fast {

Status initialize_xnnpack() {
  static const xnn_status status = xnn_initialize(nullptr);
  if (status == xnn_status_success) return {};
  if (status == xnn_status_unsupported_hardware)
    return unsupported("engine fast: XNNPACK does not support this processor");
  return xnn_check(status, "xnn_initialize");
}

std::string_view status_text(xnn_status status) {
  switch (status) {
    case xnn_status_success: return "success";
    case xnn_status_uninitialized: return "not initialized";
    case xnn_status_invalid_parameter: return "invalid parameter";
    case xnn_status_invalid_state: return "invalid state";
    case xnn_status_unsupported_parameter: return "unsupported parameter";
    case xnn_status_unsupported_hardware: return "unsupported hardware";
    case xnn_status_out_of_memory: return "out of memory";
    case xnn_status_reallocation_required: return "reallocation required";
    default: return "deprecated call";
  }
}

Status xnn_check(xnn_status status, std::string_view call) {
  if (status == xnn_status_success) return {};
  if (status == xnn_status_out_of_memory)
    return limit_error(fmt::format("{}: out of memory. A smaller batch needs less.", call));
  return internal_error(fmt::format("{}: {}", call, status_text(status)));
}

}  // namespace driftscope::fast
