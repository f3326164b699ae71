// Attention of ONNX; MultiHeadAttention and Attention of com.microsoft, the latter with its projections as a
// product before. The host brings masks of integers and lengths of sequences into float32.
// Compiled for size on the web (cmake/core.cmake).
#include "core/engines/gpu/attention.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "core/engines/gpu/operator_table.hpp"

namespace driftscope::gpu::attention {

constexpr std::int64_t max_exact = 0x1000000;  // integers that float32 has

// Rows of a past cache; one without rows is none.
std::int64_t rows_of_past(const GpuLowering& lowering, const Node& node, std::size_t input,
                          std::size_t axis) {
  if (!lowering.has_input(node, input)) return 0;
  const auto shape = lowering.value(node.inputs[input]).static_shape();
  return shape ? (*shape)[axis] : -1;
}

bool are_written(const GpuLowering& lowering, const Node& node) {
  return std::ranges::all_of(node.outputs,
                             [&](ValueId id) { return id == no_value || lowering.is_float(id); });
}

CacheRows cache_rows(const AttentionSizes& sizes, std::int64_t before, std::int64_t size) {
  return {.batch = sizes.batch,
          .heads = sizes.kv_heads,
          .size = size,
          .before = before,
          .added = sizes.keys - before,
          .rows = sizes.keys,
          .kept = std::to_string(before)};
}

/// Puts the caches of keys and values, inputs `first_cache` and the next, before what is new; they are the
/// outputs 1 and 2.
Status add_caches(GpuLowering& lowering, const Node& node, std::size_t first_cache, std::int64_t before,
                  AttentionParts& parts) {
  const AttentionSizes& sizes = parts.sizes;
  for (const std::size_t i : {0u, 1u}) {
    HeadRows& rows = i == 0 ? parts.k : parts.v;
    CacheRows cache = cache_rows(sizes, before, i == 0 ? sizes.head_size : sizes.value_size);
    if (before > 0) {
      DRIFTSCOPE_TRY(cache.past, lowering.read(node.inputs[first_cache + i], {}));
    }
    DRIFTSCOPE_TRY(rows, with_cache(lowering, node, 1 + i, cache, rows));
  }
  return {};
}

// ---- ONNX

// The keys that a query looks at.
void add_range(AttentionParts& parts, const AttentionOptions& options, std::int64_t before) {
  const AttentionSizes& sizes = parts.sizes;
  const bool counted = parts.lengths != no_buffer;
  const std::string count = counted ? "length_of(b)" : std::to_string(sizes.keys);
  const std::string at =
      counted ? fmt::format("s + length_of(b) - {}", sizes.queries) : fmt::format("s + {}", before);
  parts.end = count;
  if (options.causal) parts.end = fmt::format("min({}, {} + 1)", parts.end, at);
  if (options.right >= 0 && options.right < sizes.keys)
    parts.end = fmt::format("min({}, {} + {})", parts.end, at, options.right + 1);
  parts.end = fmt::format("max({}, 0)", parts.end);
  if (options.left >= 0 && options.left < sizes.keys + sizes.queries)
    parts.first = fmt::format("min(max({} - {}, 0), end_key(b, s))", at, options.left);
}

Result<BufferId> read_valid_keys(GpuLowering& lowering, const Node& node, std::int64_t keys) {
  return lowering.read_mapped(node.inputs[6], {}, [keys](const Tensor& from) -> Result<Tensor> {
    DRIFTSCOPE_TRY(Tensor made, Tensor::make(DType::float32, from.shape(), "nonpad_kv_seqlen"));
    std::ranges::transform(
        from.values<std::int64_t>(), made.mutable_values<float>().begin(),
        [keys](std::int64_t count) { return static_cast<float>(std::clamp<std::int64_t>(count, 0, keys)); });
    return made;
  });
}

Result<ScoreBias> read_mask(GpuLowering& lowering, const Node& node, const AttentionSizes& sizes) {
  const ValueId id = node.inputs[3];
  const Shape shape = *lowering.value(id).static_shape();
  const auto strides = broadcast_strides(shape, 4);
  ScoreBias bias;
  DRIFTSCOPE_TRY(bias.buffer, lowering.read_number(id, {}));
  bias.place = fmt::format("b * {} + h * {} + s * {} + key * {}", strides[0], strides[1], strides[2],
                           shape.back() == 1 ? 0 : strides[3]);
  if (shape.back() < sizes.keys) bias.keys = shape.back();
  bias.chooses = lowering.is_bool(id);
  bias.leaves_out = !bias.chooses;
  return bias;
}

Result<bool> lower_onnx(GpuLowering& lowering, const Node& node) {
  DRIFTSCOPE_TRY(const AttentionOptions options, read_attention_options(node));
  const std::int64_t before = rows_of_past(lowering, node, 4, 2);
  if (before < 0 || !are_written(lowering, node) || !are_floats(lowering, node, {0, 1, 2})) return false;
  if (before > 0 && !are_floats(lowering, node, {4, 5})) return false;
  if (lowering.has_input(node, 3) && !lowering.is_float(node.inputs[3]) && !lowering.is_bool(node.inputs[3]))
    return false;
  if (lowering.has_input(node, 6) && !lowering.value(node.inputs[6]).static_shape()) return false;
  if (wants_output(node, 3) && options.kept != KeptScores::products && options.kept != KeptScores::softcapped)
    return false;
  const Shape q = lowering.shape(node.inputs[0]);
  const Shape k = lowering.shape(node.inputs[1]);
  const Shape v = lowering.shape(node.inputs[2]);
  const bool by_head = q.size() == 4;
  AttentionSizes sizes;
  sizes.batch = q[0];
  sizes.heads = by_head ? q[1] : options.heads;
  sizes.kv_heads = k.size() == 4 ? k[1] : options.kv_heads;
  sizes.queries = q[by_head ? 2 : 1];
  const std::int64_t added = k[k.size() == 4 ? 2 : 1];
  sizes.keys = before + added;
  sizes.head_size = by_head ? q[3] : q[2] / sizes.heads;
  sizes.value_size = v.size() == 4 ? v[3] : v[2] / sizes.kv_heads;
  AttentionParts parts{.sizes = sizes, .scale = options.scale, .softcap = options.softcap};
  if (!can_attend(lowering, parts)) return false;

  const auto rows_of = [&](std::size_t i, std::int64_t heads, std::int64_t rows,
                           std::int64_t size) -> Result<HeadRows> {
    DRIFTSCOPE_TRY(const BufferId buffer, lowering.read(node.inputs[i], {}));
    return lowering.shape(node.inputs[i]).size() == 4
               ? HeadRows::by_head(buffer, heads, rows, size)
               : HeadRows::by_position(buffer, rows, heads * size, size);
  };
  DRIFTSCOPE_TRY(parts.q, rows_of(0, sizes.heads, sizes.queries, sizes.head_size));
  DRIFTSCOPE_TRY(parts.k, rows_of(1, sizes.kv_heads, added, sizes.head_size));
  DRIFTSCOPE_TRY(parts.v, rows_of(2, sizes.kv_heads, added, sizes.value_size));
  DRIFTSCOPE_CHECK(add_caches(lowering, node, 4, before, parts));
  if (lowering.has_input(node, 6)) {
    DRIFTSCOPE_TRY(parts.lengths, read_valid_keys(lowering, node, sizes.keys));
  }
  add_range(parts, options, before);
  if (lowering.has_input(node, 3)) {
    DRIFTSCOPE_TRY(parts.bias, read_mask(lowering, node, sizes));
  }
  if (wants_output(node, 3))
    DRIFTSCOPE_CHECK(emit_products(lowering, parts, options.kept == KeptScores::softcapped,
                                   lowering.write(node.outputs[3], {})));
  DRIFTSCOPE_CHECK(emit_attention(lowering, parts, lowering.write(node.outputs[0], {}), by_head));
  return true;
}

// ---- com.microsoft

// Whether what is added to the scores can be read: a mask of integers, numbers.
bool are_read(const GpuLowering& lowering, const Node& node, std::size_t mask, std::size_t bias) {
  if (!are_floats(lowering, node, {bias})) return false;
  if (!lowering.has_input(node, mask)) return true;
  const auto shape = lowering.value(node.inputs[mask]).static_shape();
  return shape && element_count(*shape) > 0;
}

// See core/ops/shared/key_mask.hpp.
Status add_key_mask(GpuLowering& lowering, const Node& node, std::size_t input, AttentionParts& parts) {
  if (!lowering.has_input(node, input)) return {};
  const AttentionSizes& sizes = parts.sizes;
  const Shape shape = *lowering.value(node.inputs[input]).static_shape();
  const bool of_ends = shape.size() == 1;
  DRIFTSCOPE_TRY(
      parts.mask,
      lowering.read_mapped(node.inputs[input], {}, [of_ends](const Tensor& from) -> Result<Tensor> {
        DRIFTSCOPE_TRY(Tensor made, Tensor::make(DType::float32, from.shape(), "a mask"));
        std::ranges::transform(
            from.values<std::int32_t>(), made.mutable_values<float>().begin(), [of_ends](std::int64_t given) {
              return static_cast<float>(of_ends ? std::clamp<std::int64_t>(given, -1, max_exact)
                                                : given != 0);
            });
        return made;
      }));
  switch (shape.size()) {
    case 1:
      parts.masked = "key >= i32(in{0}_element(b))";
      if (shape[0] == 2 * sizes.batch)
        parts.masked += fmt::format(" || key < i32(in{{0}}_element({} + b))", sizes.batch);
      break;
    case 2: parts.masked = fmt::format("in{{0}}_element(b * {} + key) == 0.0", sizes.keys); break;
    case 3:
      parts.masked =
          fmt::format("in{{0}}_element((b * {} + s) * {} + key) == 0.0", sizes.queries, sizes.keys);
      break;
    default:
      parts.masked = fmt::format("in{{0}}_element((b * {0} + {1} + s) * {0} + key) == 0.0", shape[3],
                                 sizes.keys - sizes.queries);
  }
  return {};
}

void add_options(AttentionParts& parts, const HeadOptions& options, std::int64_t before) {
  if (options.scale != 0.0f) parts.scale = options.scale;
  parts.filter = options.filter;
  parts.end = options.causal ? fmt::format("min(s + {}, {})", before + 1, parts.sizes.keys)
                             : std::to_string(parts.sizes.keys);
}

// Rows of `width` elements, with the part of the bias that begins at `first`.
Result<BufferId> biased(GpuLowering& lowering, BufferId x, const Tensor* bias, std::int64_t first,
                        std::int64_t rows, std::int64_t width) {
  if (bias == nullptr) return x;
  DRIFTSCOPE_TRY(const BufferId part, lowering.keep_padded(bias->values<float>().subspan(
                                          static_cast<std::size_t>(first), static_cast<std::size_t>(width))));
  const BufferId sum = lowering.scratch(static_cast<std::size_t>(rows * width) * sizeof(float));
  DRIFTSCOPE_CHECK(emitted(lowering.emit_elementwise(
      {"x0 + x1", rows * width, joined({{rows, {width, 0}}, {width, {1, 1}}})}, {x, part}, sum)));
  return sum;
}

Result<bool> lower_multi_head(GpuLowering& lowering, const Node& node) {
  DRIFTSCOPE_TRY(const HeadOptions options, read_head_options(node));
  const std::int64_t before = rows_of_past(lowering, node, 6, 2);
  if (before < 0 || !lowering.has_input(node, 1) || !lowering.has_input(node, 2)) return false;
  if (!are_written(lowering, node) || !are_floats(lowering, node, {0, 1, 2, 3}) ||
      !are_read(lowering, node, 4, 5) || (before > 0 && !are_floats(lowering, node, {6, 7})))
    return false;
  const Tensor* bias = nullptr;
  if (lowering.has_input(node, 3)) {
    bias = lowering.constant(node.inputs[3]);
    if (bias == nullptr) return false;
  }
  const Shape q = lowering.shape(node.inputs[0]);
  const Shape k = lowering.shape(node.inputs[1]);
  const Shape v = lowering.shape(node.inputs[2]);
  const bool split = k.size() == 4;
  const std::int64_t heads = options.heads;
  const std::int64_t added = k[split ? 2 : 1];
  AttentionParts parts{
      .sizes = {q[0], heads, heads, q[1], before + added, q[2] / heads, split ? v[3] : v[2] / heads}};
  const AttentionSizes& sizes = parts.sizes;
  add_options(parts, options, before);
  if (!can_attend(lowering, parts)) return false;

  const auto rows_of = [&](std::size_t i, std::int64_t rows, std::int64_t size,
                           std::int64_t first) -> Result<HeadRows> {
    DRIFTSCOPE_TRY(BufferId buffer, lowering.read(node.inputs[i], {}));
    if (i > 0 && split) return HeadRows::by_head(buffer, heads, rows, size);
    DRIFTSCOPE_TRY(buffer, biased(lowering, buffer, bias, first, sizes.batch * rows, heads * size));
    return HeadRows::by_position(buffer, rows, heads * size, size);
  };
  const std::int64_t width = heads * sizes.head_size;
  DRIFTSCOPE_TRY(parts.q, rows_of(0, sizes.queries, sizes.head_size, 0));
  DRIFTSCOPE_TRY(parts.k, rows_of(1, added, sizes.head_size, width));
  DRIFTSCOPE_TRY(parts.v, rows_of(2, added, sizes.value_size, 2 * width));
  DRIFTSCOPE_CHECK(add_caches(lowering, node, 6, before, parts));
  DRIFTSCOPE_TRY(parts.bias, read_attention_bias(lowering, node, 5));
  DRIFTSCOPE_CHECK(add_key_mask(lowering, node, 4, parts));
  DRIFTSCOPE_CHECK(emit_attention(lowering, parts, lowering.write(node.outputs[0], {}), false));
  return true;
}

// [batch · rows, 2 · hidden + value hidden].
Result<BufferId> emit_projections(GpuLowering& lowering, const Node& node, Product product,
                                  std::span<const float> bias) {
  const Tensor* w = lowering.constant(node.inputs[1]);
  product.bias = bias;
  DRIFTSCOPE_TRY(product.a, lowering.read(node.inputs[0], {}));
  if (w != nullptr) {
    product.constant_b = [from = w->values<float>().data(), columns = product.n](
                             std::int64_t k, std::int64_t n) { return from[k * columns + n]; };
  } else {
    DRIFTSCOPE_TRY(product.b, lowering.read(node.inputs[1], {}));
  }
  if (product.n % 4 == 0) return lowering.emit_constant_product(std::move(product));
  const BufferId y = product.y =
      lowering.scratch(static_cast<std::size_t>(product.m * product.n) * sizeof(float));
  DRIFTSCOPE_CHECK(emitted(lowering.emit_product(std::move(product))));
  return y;
}

Result<bool> lower_projected(GpuLowering& lowering, const Node& node) {
  DRIFTSCOPE_TRY(ProjectedHeadOptions options, read_projected_head_options(node));
  const std::int64_t before = rows_of_past(lowering, node, 4, 3);
  if (before < 0 || !are_written(lowering, node) || !are_floats(lowering, node, {0, 1, 2}) ||
      !are_read(lowering, node, 3, 5) || (before > 0 && !are_floats(lowering, node, {4})))
    return false;
  const Shape x = lowering.shape(node.inputs[0]);
  const Shape w = lowering.shape(node.inputs[1]);
  std::span<const float> bias;
  if (lowering.has_input(node, 2)) {
    const Tensor* given = lowering.constant(node.inputs[2]);
    if (given == nullptr) return false;
    bias = given->values<float>();
  }
  if (lowering.constant(node.inputs[1]) == nullptr && w[1] % 4 != 0 && !lowering.may_loop(w[0])) return false;
  DRIFTSCOPE_TRY(options, with_widths(options, w[1]));
  const std::int64_t heads = options.heads;
  AttentionParts parts{.sizes = {x[0], heads, heads, x[1], before + x[1], options.hidden / heads,
                                 options.value_hidden / heads}};
  const AttentionSizes& sizes = parts.sizes;
  add_options(parts, options, before);
  if (!can_attend(lowering, parts)) return false;

  Product product;
  product.m = x[0] * x[1];
  product.k = w[0];
  product.n = w[1];
  DRIFTSCOPE_TRY(const BufferId all, emit_projections(lowering, node, std::move(product), bias));
  const auto part = [&](std::int64_t size, std::int64_t offset) {
    return HeadRows::by_position(all, sizes.queries, w[1], size, offset);
  };
  parts.q = part(sizes.head_size, 0);
  parts.k = part(sizes.head_size, options.hidden);
  parts.v = part(sizes.value_size, 2 * options.hidden);
  if (before > 0 || wants_output(node, 1)) {
    CacheRows cache = cache_rows(sizes, before, sizes.head_size);
    if (before > 0) {
      DRIFTSCOPE_TRY(cache.past, lowering.read(node.inputs[4], {}));
    }
    const std::int64_t half = sizes.batch * heads * sizes.keys * sizes.head_size;
    for (HeadRows* const rows : {&parts.k, &parts.v}) {
      const BufferId made = lowering.scratch(static_cast<std::size_t>(half) * sizeof(float));
      DRIFTSCOPE_CHECK(emit_cache(lowering, cache, *rows, made));
      *rows = HeadRows::by_head(made, heads, sizes.keys, sizes.head_size);
      cache.past_offset = sizes.batch * heads * before * sizes.head_size;
    }
    if (wants_output(node, 1))
      DRIFTSCOPE_CHECK(emitted(lowering.emit_concat({{parts.k.buffer, 1}, {parts.v.buffer, 1}}, 1, half,
                                                    lowering.write(node.outputs[1], {}))));
  }
  DRIFTSCOPE_TRY(parts.bias, read_attention_bias(lowering, node, 5));
  DRIFTSCOPE_CHECK(add_key_mask(lowering, node, 3, parts));
  DRIFTSCOPE_CHECK(emit_attention(lowering, parts, lowering.write(node.outputs[0], {}), false));
  return true;
}

void add_to(GpuOperatorTable& table) {
  table.add("Attention", lower_onnx);
  table.add("com.microsoft.MultiHeadAttention", lower_multi_head);
  table.add("com.microsoft.Attention", lower_projected);
}

}  // namespace driftscope::gpu::attention
