// The builds of one release of a runtime: ONNX Runtime Web has WebGPU kernels in C++ in one and in JavaScript
// in another.
#include "core/engines/peer/release.hpp"
#include "native/host/bisect_axis.hpp"

namespace driftscope::bisect_axes::build {

static Result<std::vector<AxisLevel>> levels(const AxisRequest& request) {
  return option_levels(std::string(peer::build_name), request);
}

void add_to(AxisTable& table) {
  table.add({.name = "build",
             .summary = "the builds of one release, as its package names them",
             .ordered = false,
             .levels = levels});
}

}  // namespace driftscope::bisect_axes::build
