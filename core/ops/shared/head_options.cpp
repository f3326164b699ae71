#include "core/ops/shared/head_options.hpp"

#include "core/graph/attributes.hpp"
#include "core/ops/shared/domains.hpp"

namespace driftscope {

Result<HeadOptions> read_head_options(const Node& node) {
  HeadOptions options;
  DRIFTSCOPE_TRY(options.heads, required_int(node, "num_heads", 1));
  DRIFTSCOPE_TRY(options.scale, float_attribute(node, "scale", options.scale));
  DRIFTSCOPE_TRY(options.filter, float_attribute(node, "mask_filter_value", options.filter));
  DRIFTSCOPE_TRY(options.causal, flag_attribute(node, "unidirectional", false));
  if (options.heads > 65536) return limit_error("attribute num_heads: more than 65536 are not supported");
  return options;
}

}  // namespace driftscope
