// DequantizeLinear is deferred, when fusing, until a node needs real numbers: the nodes around quantized
// values read the integers themselves. If one does, the strict kernel computes them.
#include "core/engines/fast/lowering.hpp"

namespace driftscope::fast::dequantize_linear {

void add_to(FastOperatorTable& table) {
  table.add("DequantizeLinear",
            [](Lowering& lowering, const Node& node) -> Result<bool> { return lowering.defer(node); });
}

}  // namespace driftscope::fast::dequantize_linear
