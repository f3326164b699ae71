// minmax: everything that was seen.
#include "core/quantize/calibration_method.hpp"

namespace driftscope::quantize::methods::minmax {
namespace {

ValueRange range(const Observed& observed, const MethodOptions& /*options*/) { return observed.extremes; }

}  // namespace

void add_to(MethodTable& table) {
  table.add(
      {.order = 10, .name = "minmax", .summary = "from the smallest to the largest value", .range = range});
}

}  // namespace driftscope::quantize::methods::minmax
