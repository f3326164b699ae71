// Compiled for size on the web (cmake/core.cmake).
#include "core/ops/shared/head_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

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

Result<ProjectedHeadOptions> read_projected_head_options(const Node& node) {
  ProjectedHeadOptions options;
  DRIFTSCOPE_TRY(static_cast<HeadOptions&>(options), read_head_options(node));
  DRIFTSCOPE_TRY(const Ints sizes, ints_attribute(node, "qkv_hidden_sizes", {}));
  for (const std::string_view name : {"do_rotary", "past_present_share_buffer"}) {
    DRIFTSCOPE_TRY(const std::int64_t value, int_attribute(node, name, 0));
    if (value != 0) return unsupported(fmt::format("{} with {} is not known here", node.op_type, name));
  }
  if (sizes.empty()) return options;
  if (sizes.size() != 3 || sizes[0] != sizes[1] || std::ranges::any_of(sizes, [&](std::int64_t size) {
        return size <= 0 || size > (std::int64_t{1} << 30) || size % options.heads != 0;
      }))
    return bad_input(
        fmt::format("attribute qkv_hidden_sizes: expected three multiples of num_heads ({}), the first "
                    "two equal, got {}",
                    options.heads, fmt::join(sizes, ", ")));
  options.hidden = sizes[0];
  options.value_hidden = sizes[2];
  return options;
}

Result<ProjectedHeadOptions> with_widths(ProjectedHeadOptions options, std::int64_t columns) {
  if (options.hidden == 0) {
    if (columns == 0 || columns % (3 * options.heads) != 0)
      return bad_input(
          fmt::format("input 1 (weights): {} columns cannot be split into query, key and value of {} "
                      "heads",
                      columns, options.heads));
    options.hidden = options.value_hidden = columns / 3;
  } else if (2 * options.hidden + options.value_hidden != columns) {
    return bad_input(fmt::format("input 1 (weights): expected {} columns (qkv_hidden_sizes), got {}",
                                 2 * options.hidden + options.value_hidden, columns));
  }
  return options;
}

Result<AttentionOptions> read_attention_options(const Node& node) {
  AttentionOptions options;
  DRIFTSCOPE_TRY(options.heads, int_attribute(node, "q_num_heads", 0));
  DRIFTSCOPE_TRY(options.kv_heads, int_attribute(node, "kv_num_heads", 0));
  DRIFTSCOPE_TRY(options.left, int_attribute(node, "left_window_size", -1));
  DRIFTSCOPE_TRY(options.right, int_attribute(node, "right_window_size", -1));
  DRIFTSCOPE_TRY(options.causal, flag_attribute(node, "is_causal", false));
  DRIFTSCOPE_TRY(options.softcap, float_attribute(node, "softcap", 0.0F));
  if (node.attribute("scale") != nullptr) {
    DRIFTSCOPE_TRY(options.scale, float_attribute(node, "scale", 1.0F));
  }
  if (options.heads < 0 || options.kv_heads < 0 || options.left < -1 || options.right < -1)
    return bad_input(
        "attributes q_num_heads, kv_num_heads: expected at least 0; left_window_size, right_window_size: at "
        "least -1");
  DRIFTSCOPE_TRY(const std::int64_t mode, int_attribute(node, "qk_matmul_output_mode", 0));
  if (mode < 0 || mode > 3)
    return bad_input(fmt::format("attribute qk_matmul_output_mode: expected 0 to 3, got {}", mode));
  options.kept = static_cast<KeptScores>(mode);
  return options;
}

Result<GroupQueryOptions> read_group_query_options(const Node& node) {
  constexpr std::size_t known_inputs = 12;
  GroupQueryOptions options;
  DRIFTSCOPE_TRY(options.heads, required_int(node, "num_heads", 1));
  DRIFTSCOPE_TRY(options.kv_heads, required_int(node, "kv_num_heads", 1));
  DRIFTSCOPE_TRY(options.window, int_attribute(node, "local_window_size", -1));
  DRIFTSCOPE_TRY(options.rotary, flag_attribute(node, "do_rotary", false));
  DRIFTSCOPE_TRY(options.interleaved, flag_attribute(node, "rotary_interleaved", false));
  DRIFTSCOPE_TRY(const std::int64_t smooth, int_attribute(node, "smooth_softmax", 0));
  DRIFTSCOPE_TRY(options.scale, float_attribute(node, "scale", 0.0f));
  DRIFTSCOPE_TRY(options.softcap, float_attribute(node, "softcap", 0.0f));
  options.smooth = smooth == 1;
  if (options.heads > 65536) return limit_error("attribute num_heads: more than 65536 are not supported");
  if (options.heads % options.kv_heads != 0)
    return bad_input(fmt::format("attribute num_heads: {} is not a multiple of kv_num_heads {}",
                                 options.heads, options.kv_heads));
  for (const auto& [name, usual] :
       {std::pair{"qk_output", 0}, {"sliding_window_cache", 0}, {"kv_cache_bit_width", 0}, {"causal", 1}}) {
    DRIFTSCOPE_TRY(const std::int64_t value, int_attribute(node, name, usual));
    if (value != usual)
      return unsupported(fmt::format("GroupQueryAttention with {} {} is not known here", name, value));
  }
  for (const std::string_view name : {"k_quant_type", "v_quant_type"}) {
    DRIFTSCOPE_TRY(const std::string type, string_attribute(node, name, "NONE"));
    if (type != "NONE") return unsupported("GroupQueryAttention with a quantized cache is not known here");
  }
  for (std::size_t i = known_inputs; i < node.inputs.size(); ++i)
    if (node.inputs[i] != no_value)
      return unsupported(fmt::format("GroupQueryAttention with input {} is not known here", i));
  return options;
}

Status GroupQueryLengths::check(std::span<const std::int32_t> lasts) const {
  if (total > before + queries)
    return bad_input(fmt::format(
        "input 6 (total_sequence_length): {} positions, but the caches hold {} before and {} are new", total,
        before, queries));
  for (std::size_t b = 0; b < lasts.size(); ++b) {
    const std::int64_t last = lasts[b];
    if (last < 0 || last >= after() || past(lasts[b]) < 0 || past(lasts[b]) > before)
      return bad_input(
          fmt::format("input 5 (seqlens_k): element {} is {}: a sequence of {} positions, {} of them "
                      "new, with total_sequence_length {} and {} rows in the caches before",
                      b, last, last + 1, queries, total, before));
  }
  return {};
}

}  // namespace driftscope
