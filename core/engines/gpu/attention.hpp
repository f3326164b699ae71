// Scaled dot-product attention in three dispatches: scores, what is common to a row of them, the weighted sum
// of the values. Caches and rotations are dispatches before. Clients: the operators of attention.
#pragma once

#include <optional>
#include <string>

#include "core/engines/gpu/lowering.hpp"
#include "core/ops/shared/head_options.hpp"

namespace driftscope::gpu {

/// Where the rows of heads lie in a buffer: distances in elements.
struct HeadRows {
  BufferId buffer = no_buffer;
  std::int64_t batch = 0;
  std::int64_t head = 0;
  std::int64_t row = 0;
  std::int64_t offset = 0;

  /// [batch, rows, width], the heads side by side from `offset` on.
  [[nodiscard]] static HeadRows by_position(BufferId buffer, std::int64_t rows, std::int64_t width,
                                            std::int64_t size, std::int64_t offset = 0) {
    return {buffer, rows * width, size, width, offset};
  }
  /// [batch, heads, rows, size].
  [[nodiscard]] static HeadRows by_head(BufferId buffer, std::int64_t heads, std::int64_t rows,
                                        std::int64_t size) {
    return {buffer, heads * rows * size, rows * size, size, 0};
  }
};

/// A value that is added to the scores, or says which are left out.
struct ScoreBias {
  BufferId buffer = no_buffer;
  std::string place = {};   ///< of an element, in words of b, h, s, key
  std::int64_t keys = 0;    ///< keys beyond are left out; 0: none
  bool chooses = false;     ///< zeros leave out
  bool leaves_out = false;  ///< −∞ leaves out
};

/// com.microsoft's attention_bias, [batch or 1, heads or 1, queries, keys], where the node has it.
[[nodiscard]] Result<std::optional<ScoreBias>> read_attention_bias(GpuLowering& lowering, const Node& node,
                                                                   std::size_t input);

struct AttentionParts {
  AttentionSizes sizes = {};
  HeadRows q = {}, k = {}, v = {};
  std::optional<float> scale = {};  ///< default 1/√(head size)
  float softcap = 0.0f;             ///< 0: none
  /// The keys that a query looks at, in words of b, s and length_of(b).
  std::string first = "0";
  std::string end = {};
  BufferId lengths = no_buffer;  ///< a number for each sequence: length_of
  std::optional<ScoreBias> bias = {};
  BufferId mask = no_buffer;
  std::string masked = {};  ///< whether `filter` is added, in words of b, s, key and in{0}, the mask
  float filter = 0.0f;
  BufferId sinks = no_buffer;  ///< one more score of each head
  bool sink_of_zero = false;   ///< the same of all
};

/// To be asked before anything is written.
[[nodiscard]] bool can_attend(const GpuLowering& lowering, const AttentionParts& parts);

/// [batch, queries, heads, value_size], or [batch, heads, queries, value_size].
[[nodiscard]] Status emit_attention(GpuLowering& lowering, const AttentionParts& parts, BufferId out,
                                    bool by_head);

/// The scores [batch, heads, queries, keys] themselves, before or after softcap.
[[nodiscard]] Status emit_products(GpuLowering& lowering, const AttentionParts& parts, bool softcapped,
                                   BufferId out);

/// The rows of a cache with the new ones behind.
struct CacheRows {
  std::int64_t batch = 0;
  std::int64_t heads = 0;
  std::int64_t size = 0;
  std::int64_t before = 0;  ///< rows of the past
  std::int64_t added = 0;
  std::int64_t rows = 0;  ///< in all
  BufferId past = no_buffer;
  std::int64_t past_offset = 0;
  std::string kept = {};  ///< rows of the past that are kept, in words of b and length_of(b)
  BufferId lengths = no_buffer;
};
[[nodiscard]] Status emit_cache(GpuLowering& lowering, const CacheRows& cache, const HeadRows& added,
                                BufferId out);

/// The cache in the memory of this output of the node, or in scratch memory where only attention needs it;
/// the new rows as they lie where there is neither past nor output.
[[nodiscard]] Result<HeadRows> with_cache(GpuLowering& lowering, const Node& node, std::size_t output,
                                          const CacheRows& cache, const HeadRows& added);

[[nodiscard]] bool wants_output(const Node& node, std::size_t output);
/// Whether these inputs are float values or missing.
[[nodiscard]] bool are_floats(const GpuLowering& lowering, const Node& node,
                              std::initializer_list<std::size_t> inputs);

/// What emit_elements and emit_texels say of a step that cannot be declined any more.
[[nodiscard]] Status emitted(const Result<bool>& done);

}  // namespace driftscope::gpu
