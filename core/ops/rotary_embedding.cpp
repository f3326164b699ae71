// RotaryEmbedding, opset 23 to 26, and com.microsoft RotaryEmbedding: input [batch, sequence, hidden] or
// [batch, heads, sequence, head size], turned by rows of cos_cache and sin_cache, one for each position
// (rotary.hpp). position_ids [1] is the first position of every sequence, [batch, sequence] gives each.
#include <fmt/format.h>

#include "core/graph/attributes.hpp"
#include "core/ops/shared/domains.hpp"
#include "core/ops/shared/rotary.hpp"

namespace driftscope::ops::rotary_embedding {

struct Options {
  std::int64_t heads = 0;
  std::int64_t rotary = 0;  // 0: as the caches say
  bool interleaved = false;
};

Result<Options> read_options(const Node& node) {
  Options options;
  DRIFTSCOPE_TRY(options.heads, int_attribute(node, "num_heads", 0));
  DRIFTSCOPE_TRY(options.rotary, int_attribute(node, "rotary_embedding_dim", 0));
  DRIFTSCOPE_TRY(options.interleaved, flag_attribute(node, "interleaved", false));
  DRIFTSCOPE_TRY(const bool packed, flag_attribute(node, "is_packed_batching", false));
  DRIFTSCOPE_TRY(const float scale, float_attribute(node, "scale", 1.0f));
  if (packed) return unsupported("RotaryEmbedding with is_packed_batching is not known here");
  if (scale != 1.0f) return unsupported("RotaryEmbedding with a scale: no runtime applies it");
  if (options.heads < 0 || options.rotary < 0)
    return bad_input("attributes num_heads and rotary_embedding_dim: expected at least 0");
  if (options.rotary > 0 && options.heads == 0)
    return bad_input("attribute num_heads: rotary_embedding_dim needs it");
  return options;
}

// Where head h of position s of batch b begins, and its size.
struct Heads {
  std::int64_t batch = 0, sequence = 0, heads = 0, size = 0;
  bool heads_first = false;

  [[nodiscard]] std::int64_t at(std::int64_t b, std::int64_t s, std::int64_t h) const {
    return (heads_first ? (b * heads + h) * sequence + s : (b * sequence + s) * heads + h) * size;
  }
};

constexpr std::int64_t most_columns = std::int64_t{1} << 40;

Result<Heads> heads_of(const Options& options, const Shape& x, const Shape& cos) {
  if (cos[1] > most_columns) return limit_error("input 2 (cos_cache): it has too many columns");
  Heads heads;
  if (x.size() == 4) {
    heads = {x[0], x[2], x[1], x[3], true};
  } else {
    const std::int64_t size = options.rotary > 0 ? x[2] / options.heads : 2 * cos[1];
    if (size <= 0 || x[2] % size != 0 || (options.rotary > 0 && x[2] % options.heads != 0))
      return bad_input(fmt::format(
          "input 0 (input): {} elements of a position cannot be split into heads of {}", x[2], size));
    heads = {x[0], x[1], x[2] / size, size, false};
  }
  const std::int64_t turned = 2 * cos[1];
  if (turned > heads.size || (options.rotary > 0 && turned != options.rotary))
    return bad_input(
        fmt::format("input 2 (cos_cache): {} columns turn {} elements of a head of {}, {} expected", cos[1],
                    turned, heads.size, options.rotary > 0 ? options.rotary : heads.size));
  return heads;
}

Result<std::vector<TensorType>> infer(const InferContext& context) {
  DRIFTSCOPE_TRY(const Options options, read_options(context.node()));
  constexpr std::array<std::string_view, 4> names = {"input", "position_ids", "cos_cache", "sin_cache"};
  for (const std::size_t i : {0u, 2u, 3u})
    DRIFTSCOPE_CHECK(expect_kind(context, i, names[i], Kinds::floating));
  DRIFTSCOPE_CHECK(expect_dtype(context, 1, names[1], {DType::int64}));
  DRIFTSCOPE_CHECK(expect_rank(context, 0, names[0], 3, 4));
  DRIFTSCOPE_CHECK(expect_rank(context, 1, names[1], 1, 2));
  DRIFTSCOPE_CHECK(expect_rank(context, 2, names[2], 2, 2));
  if (const auto& cos = context.input(2).shape) DRIFTSCOPE_CHECK(expect_shape(context, 3, names[3], *cos));
  if (const auto& x = context.input(0).shape) {
    if (context.input(1).shape && context.input(1).shape->size() == 1)
      DRIFTSCOPE_CHECK(expect_shape(context, 1, names[1], {known_dimension(1)}));
    else
      DRIFTSCOPE_CHECK(expect_shape(context, 1, names[1], {(*x)[0], (*x)[x->size() == 4 ? 2 : 1]}));
    const auto known_x = concrete_shape(x);
    const auto known_cos = concrete_shape(context.input(2).shape);
    if (known_x && known_cos) {
      DRIFTSCOPE_TRY([[maybe_unused]] const Heads heads, heads_of(options, *known_x, *known_cos));
    }
  }
  return std::vector{context.input(0)};
}

struct RotaryEmbedding {
  template <class S>
  static Status run(KernelContext<S>& context) {
    DRIFTSCOPE_TRY(const Options options, read_options(context.node()));
    DRIFTSCOPE_TRY(const Heads heads, heads_of(options, context.shape(0), context.shape(2)));
    const std::span<const S> x = context.real(0);
    const std::span<S> y = context.real_output(0);
    if (x.empty()) return {};
    const auto positions = context.tensor(1).template values<std::int64_t>();
    const std::int64_t rows = context.shape(2)[0];
    const auto half = static_cast<std::size_t>(context.shape(2)[1]);
    const auto size = static_cast<std::size_t>(heads.size);
    for (std::int64_t b = 0; b < heads.batch; ++b)
      for (std::int64_t s = 0; s < heads.sequence; ++s) {
        const bool each = positions.size() != 1 || context.shape(1).size() == 2;
        const std::int64_t given =
            each ? positions[static_cast<std::size_t>(b * heads.sequence + s)] : positions[0];
        if (given < 0 || given >= rows - (each ? 0 : s))
          return bad_input(
              fmt::format("input 1 (position_ids): position {} of sequence {} is {}, the caches have "
                          "{} rows",
                          s, b, each ? given : given + s, rows));
        const std::int64_t position = each ? given : given + s;
        const std::size_t row = static_cast<std::size_t>(position) * half;
        for (std::int64_t h = 0; h < heads.heads; ++h) {
          const auto at = static_cast<std::size_t>(heads.at(b, s, h));
          rotate_head<S>(x.subspan(at, size), y.subspan(at, size), context.real(2).subspan(row, half),
                         context.real(3).subspan(row, half), options.interleaved);
        }
      }
    return {};
  }
};

// ONNX's RotaryEmbedding: the caches come second, and hold a row for each position of each sequence where
// position_ids are not given.
namespace of_onnx {

constexpr std::array<std::string_view, 4> names = {"X", "cos_cache", "sin_cache", "position_ids"};

Result<Heads> heads_of(const Node& node, const Shape& x, std::int64_t columns) {
  DRIFTSCOPE_TRY(const std::int64_t heads, int_attribute(node, "num_heads", 0));
  DRIFTSCOPE_TRY(const std::int64_t rotary, int_attribute(node, "rotary_embedding_dim", 0));
  if (columns > most_columns) return limit_error("input 1 (cos_cache): it has too many columns");
  Heads result;
  if (x.size() == 4) {
    result = {x[0], x[2], x[1], x[3], true};
  } else {
    if (heads <= 0) return bad_input("attribute num_heads: needed where X has three axes");
    if (x[2] % heads != 0)
      return bad_input(
          fmt::format("input 0 (X): {} elements of a position cannot be split into {} heads", x[2], heads));
    result = {x[0], x[1], heads, x[2] / heads, false};
  }
  const std::int64_t turned = rotary > 0 ? rotary : result.size;
  if (turned > result.size || 2 * columns != turned)
    return bad_input(
        fmt::format("input 1 (cos_cache): {} columns turn {} elements of a head of {}, {} expected", columns,
                    2 * columns, result.size, turned));
  return result;
}

Result<std::vector<TensorType>> infer(const InferContext& context) {
  for (const std::size_t i : {0u, 1u, 2u})
    DRIFTSCOPE_CHECK(expect_kind(context, i, names[i], Kinds::floating));
  DRIFTSCOPE_CHECK(expect_dtype(context, 3, names[3], {DType::int64}));
  DRIFTSCOPE_CHECK(expect_rank(context, 0, names[0], 3, 4));
  const std::size_t rank = context.has_input(3) ? 2 : 3;
  DRIFTSCOPE_CHECK(expect_rank(context, 1, names[1], rank, rank));
  DRIFTSCOPE_TRY([[maybe_unused]] const bool interleaved,
                 flag_attribute(context.node(), "interleaved", false));
  if (const auto& cos = context.input(1).shape) DRIFTSCOPE_CHECK(expect_shape(context, 2, names[2], *cos));
  if (const auto& x = context.input(0).shape) {
    const Dimension length = (*x)[x->size() == 4 ? 2 : 1];
    DRIFTSCOPE_CHECK(expect_shape(context, 3, names[3], {(*x)[0], length}));
    if (!context.has_input(3))
      DRIFTSCOPE_CHECK(expect_shape(context, 1, names[1], {(*x)[0], length, dimension_of(context, 1, 2)}));
    const auto known_x = concrete_shape(x);
    const Dimension columns = dimension_of(context, 1, rank - 1);
    if (known_x && columns.known()) {
      DRIFTSCOPE_TRY([[maybe_unused]] const Heads heads, heads_of(context.node(), *known_x, columns.size));
    }
  }
  return std::vector{context.input(0)};
}

struct Kernel {
  template <class S>
  static Status run(KernelContext<S>& context) {
    const std::int64_t columns = context.shape(1).back();
    DRIFTSCOPE_TRY(const Heads heads, heads_of(context.node(), context.shape(0), columns));
    DRIFTSCOPE_TRY(const bool interleaved, flag_attribute(context.node(), "interleaved", false));
    const std::span<const S> x = context.real(0);
    const std::span<S> y = context.real_output(0);
    const auto size = static_cast<std::size_t>(heads.size);
    for (std::int64_t b = 0; b < heads.batch; ++b)
      for (std::int64_t s = 0; s < heads.sequence; ++s) {
        std::int64_t position = b * heads.sequence + s;
        if (context.has_input(3)) {
          position = context.tensor(3).template values<std::int64_t>()[static_cast<std::size_t>(position)];
          if (position < 0 || position >= context.shape(1)[0])
            return bad_input(fmt::format(
                "input 3 (position_ids): position {} of sequence {} is {}, the caches have {} rows", s, b,
                position, context.shape(1)[0]));
        }
        const auto row = static_cast<std::size_t>(position * columns);
        const auto half = static_cast<std::size_t>(columns);
        for (std::int64_t h = 0; h < heads.heads; ++h) {
          const auto at = static_cast<std::size_t>(heads.at(b, s, h));
          rotate_head<S>(x.subspan(at, size), y.subspan(at, size), context.real(1).subspan(row, half),
                         context.real(2).subspan(row, half), interleaved);
        }
      }
    return {};
  }
};

}  // namespace of_onnx

void add_to(OperatorTable& table) {
  table.add(with_kernels<of_onnx::Kernel>({.op_type = "RotaryEmbedding",
                                           .since = 23,
                                           .inputs = {3, 4},
                                           .outputs = {1, 1},
                                           .infer = of_onnx::infer}));
  table.add(with_kernels<RotaryEmbedding>({.op_type = "RotaryEmbedding",
                                           .domain = microsoft_domain,
                                           .inputs = {4, 4},
                                           .outputs = {1, 1},
                                           .infer = infer}));
}

}  // namespace driftscope::ops::rotary_embedding
