#include "core/engines/gpu/kernels.hpp"

#include <fmt/format.h>

namespace driftscope::gpu {

std::string Reduction::last_of(std::int64_t size) const { return fmt::format(fmt::runtime(last), size); }

std::string clamped(std::string_view expression, const Clamp& clamp) {
  return fmt::format("clamp({}, T({}), T({}))", expression, float_text(clamp.min), float_text(clamp.max));
}

void add_clamp(ShaderValues& values, const Clamp& clamp) {
  values["CLAMPED"] = clamp.none() ? 0 : 1;
  values["CLAMP_MIN"] = float_text(clamp.min);
  values["CLAMP_MAX"] = float_text(clamp.max);
}

}  // namespace driftscope::gpu
