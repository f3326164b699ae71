// Attributes of the attention operators, and what follows from them and the shapes alone. Clients: their
// definitions in core/ops, the lowerings of engines.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/base/result.hpp"
#include "core/graph/graph.hpp"

namespace driftscope {

struct AttentionSizes {
  std::int64_t batch = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;  ///< each serves heads / kv_heads of the query's
  std::int64_t queries = 0;
  std::int64_t keys = 0;  ///< rows of K and V
  std::int64_t head_size = 0;
  std::int64_t value_size = 0;
};

/// What Attention, QAttention and MultiHeadAttention of com.microsoft have in common.
struct HeadOptions {
  std::int64_t heads = 0;    ///< num_heads, from 1 on
  float scale = 0.0f;        ///< of the scores; 0: 1/√size of a head
  float filter = -10000.0f;  ///< mask_filter_value, the score of a masked key
  bool causal = false;       ///< unidirectional
};

[[nodiscard]] Result<HeadOptions> read_head_options(const Node& node);

/// Of Attention and QAttention, which project their input themselves.
struct ProjectedHeadOptions : HeadOptions {
  std::int64_t hidden = 0;        ///< of query and of key; 0: a third of the weights' columns
  std::int64_t value_hidden = 0;  ///< likewise
};

[[nodiscard]] Result<ProjectedHeadOptions> read_projected_head_options(const Node& node);

/// The widths that the number of the weights' columns says.
[[nodiscard]] Result<ProjectedHeadOptions> with_widths(ProjectedHeadOptions options, std::int64_t columns);

/// Which scores are an output of ONNX's Attention (qk_matmul_output_mode).
enum class KeptScores { products, softcapped, biased, weights };

/// Of ONNX's Attention.
struct AttentionOptions {
  std::int64_t heads = 0, kv_heads = 0;  ///< 0: as the shapes say
  std::int64_t left = -1, right = -1;
  bool causal = false;
  std::optional<float> scale;
  float softcap = 0.0F;
  KeptScores kept = KeptScores::products;
};

[[nodiscard]] Result<AttentionOptions> read_attention_options(const Node& node);

struct GroupQueryOptions {
  std::int64_t heads = 0, kv_heads = 0, window = -1;
  bool rotary = false, interleaved = false, smooth = false;
  float scale = 0.0f, softcap = 0.0f;
};

[[nodiscard]] Result<GroupQueryOptions> read_group_query_options(const Node& node);

/// The sequences of one run of GroupQueryAttention: seqlens_k holds the last position of each.
struct GroupQueryLengths {
  std::int64_t queries = 0;  ///< new positions
  std::int64_t before = 0;   ///< rows of the past caches
  std::int64_t total = 0;    ///< total_sequence_length

  /// The first run of a prompt, which may be padded at its right.
  [[nodiscard]] bool is_prompt() const { return total == queries; }
  /// Rows of the present caches.
  [[nodiscard]] std::int64_t after() const { return before > total ? before : total; }
  /// Positions that a sequence had before.
  [[nodiscard]] std::int64_t past(std::int32_t last) const {
    return is_prompt() ? 0 : std::int64_t{last} + 1 - queries;
  }
  [[nodiscard]] Status check(std::span<const std::int32_t> lasts) const;
};

}  // namespace driftscope
