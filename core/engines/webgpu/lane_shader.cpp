#include "core/engines/webgpu/lane_shader.hpp"

namespace driftscope::webgpu {

Result<bool> emit_lanes(Lowering& lowering, std::string_view file, ShaderValues values, const Lanes& lanes,
                        std::vector<BufferId> reads, BufferId write) {
  constexpr std::int64_t min_wide = 64;
  constexpr std::int64_t many_lanes = 16'384;
  const bool wide =
      !lowering.for_cpu() && lanes.size >= min_wide && (lanes.inner == 1 || lanes.count() < many_lanes);
  const auto where = lowering.grid(lanes.count(), wide ? 1 : flat_threads);
  if (!where) return limit_error("the GPU has too few workgroups for so many lanes");
  values["SIZE"] = lanes.size;
  values["INNER"] = lanes.inner;
  values["LANES"] = lanes.count();
  values["WIDE"] = wide ? 1 : 0;
  values["ROW"] = where->row;
  values["THREADS"] = flat_threads;
  DRIFTSCOPE_CHECK(lowering.emit(file, values, std::move(reads), {write}, where->groups));
  return true;
}

}  // namespace driftscope::webgpu
