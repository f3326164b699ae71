// Attributes that the attention operators of com.microsoft have in common. Clients: Attention, QAttention,
// MultiHeadAttention.
#pragma once

#include <cstdint>

#include "core/base/result.hpp"
#include "core/graph/graph.hpp"

namespace driftscope {

struct HeadOptions {
  std::int64_t heads = 0;    ///< num_heads, from 1 on
  float scale = 0.0f;        ///< of the scores; 0: 1/√size of a head
  float filter = -10000.0f;  ///< mask_filter_value, the score of a masked key
  bool causal = false;       ///< unidirectional
};

[[nodiscard]] Result<HeadOptions> read_head_options(const Node& node);

}  // namespace driftscope
