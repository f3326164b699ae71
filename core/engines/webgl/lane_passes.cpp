#include "core/engines/webgl/lane_passes.hpp"

namespace driftscope::webgl {

bool lanes_fit(const Lowering& lowering, const Lanes& lanes) {
  return lowering.may_loop_per_texel(2 * lanes.size + 4);
}

Result<bool> emit_lanes(Lowering& lowering, std::string_view of_lane, std::string_view of_element,
                        ShaderValues values, const Lanes& lanes, std::vector<BufferId> reads,
                        BufferId write) {
  values["SIZE"] = lanes.size;
  values["INNER"] = lanes.inner;
  values["ELEMENTS"] = 0;
  values["COUNT"] = lanes.count() * 4;
  const BufferId common = lowering.scratch_texels(lanes.count());
  DRIFTSCOPE_CHECK(lowering.emit_draw(of_lane, values, {reads[0]}, common));
  values["ELEMENTS"] = 1;
  values["COUNT"] = lanes.count() * lanes.size;
  reads.insert(reads.begin() + 1, common);
  DRIFTSCOPE_CHECK(lowering.emit_draw(of_element, std::move(values), std::move(reads), write));
  return true;
}

}  // namespace driftscope::webgl
