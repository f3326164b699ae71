// com.microsoft EmbedLayerNormalization: rows of the word, position and segment embeddings, added and
// normalized over the last axis as LayerNormalization does; the number of positions whose mask is 1; on
// request the sum.
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include <algorithm>

#include "core/graph/attributes.hpp"
#include "core/ops/shared/composition.hpp"

namespace driftscope::ops::embed_layer_normalization {

constexpr std::array<std::string_view, 9> names = {
    "input_ids", "segment_ids", "word_embedding", "position_embedding", "segment_embedding",
    "gamma",     "beta",        "mask",           "position_ids"};

Result<std::vector<TensorType>> infer(const InferContext& context) {
  DRIFTSCOPE_CHECK(expect_given(context, {0, 2, 3, 5, 6}, names));
  for (const std::size_t i : {0u, 1u, 7u, 8u})
    DRIFTSCOPE_CHECK(expect_dtype(context, i, names[i], {DType::int32}));
  for (const std::size_t i : {2u, 3u, 4u, 5u, 6u})
    DRIFTSCOPE_CHECK(expect_kind(context, i, names[i], Kinds::floating));
  if (context.has_input(1) != context.has_input(4))
    return bad_input("inputs 1 (segment_ids) and 4 (segment_embedding): one is given without the other");
  DRIFTSCOPE_CHECK(expect_rank(context, 0, names[0], 2, 2));
  for (const std::size_t i : {2u, 3u, 4u}) DRIFTSCOPE_CHECK(expect_rank(context, i, names[i], 2, 2));
  const Dimension batch = dimension_of(context, 0, 0);
  const Dimension length = dimension_of(context, 0, 1);
  const Dimension hidden = dimension_of(context, 2, 1);
  for (const std::size_t i : {1u, 7u}) DRIFTSCOPE_CHECK(expect_shape(context, i, names[i], {batch, length}));
  for (const std::size_t i : {3u, 4u})
    DRIFTSCOPE_CHECK(expect_shape(context, i, names[i], {dimension_of(context, i, 0), hidden}));
  for (const std::size_t i : {5u, 6u}) DRIFTSCOPE_CHECK(expect_shape(context, i, names[i], {hidden}));
  if (context.has_input(8) && context.input(8).shape && context.input(8).shape->size() == 2) {
    const bool one = (*context.input(8).shape)[0].size == 1;
    DRIFTSCOPE_CHECK(expect_shape(context, 8, names[8], {one ? known_dimension(1) : batch, length}));
  }
  const TensorType like{context.input(2).dtype, SymbolicShape{batch, length, hidden}};
  std::vector<TensorType> outputs = {like, TensorType{DType::int32, SymbolicShape{batch}}, like};
  outputs.resize(std::max<std::size_t>(3, context.node().outputs.size()));
  return outputs;
}

// Positions 0, 1, 2, … where none are given.
Status check_length(const Shape& ids, const Shape& table) {
  if (ids[1] <= table[0]) return {};
  return bad_input(fmt::format("input 3 (position_embedding): {} rows, but the sequences have {} positions",
                               table[0], ids[1]));
}

struct EmbedLayerNormalization {
  template <class S>
  static Status run(KernelContext<S>& context) {
    Composition<S> parts(context);
    DRIFTSCOPE_TRY(const float epsilon, float_attribute(context.node(), "epsilon", 1e-12f));
    const Shape& ids = context.shape(0);
    DRIFTSCOPE_TRY(const Evaluated<S>* sum, parts.one("Gather", {parts.input(2), parts.input(0)}));
    const Evaluated<S>* positions = parts.input(8);
    if (positions == nullptr) {
      DRIFTSCOPE_CHECK(check_length(ids, context.shape(3)));
      std::vector<std::int64_t> count(static_cast<std::size_t>(ids[1]));
      for (std::size_t i = 0; i < count.size(); ++i) count[i] = static_cast<std::int64_t>(i);
      DRIFTSCOPE_TRY(positions, parts.integers(count));
    }
    DRIFTSCOPE_TRY(const auto places, parts.one("Gather", {parts.input(3), positions}));
    DRIFTSCOPE_TRY(sum, parts.one("Add", {sum, places}));
    if (context.has_input(1)) {
      DRIFTSCOPE_TRY(const auto segments, parts.one("Gather", {parts.input(4), parts.input(1)}));
      DRIFTSCOPE_TRY(sum, parts.one("Add", {sum, segments}));
    }
    DRIFTSCOPE_CHECK(parts.give(2, sum));
    if (context.wants_output(1)) {
      const auto counts = context.tensor_output(1).template mutable_values<std::int32_t>();
      std::fill(counts.begin(), counts.end(), 0);
      if (context.has_input(7)) {
        const auto mask = context.tensor(7).template values<std::int32_t>();
        for (std::size_t i = 0; i < mask.size(); ++i)
          if (mask[i] == 1) ++counts[i / static_cast<std::size_t>(ids[1])];
      }
    }
    DRIFTSCOPE_TRY(const auto y, parts.one("LayerNormalization", {sum, parts.input(5), parts.input(6)},
                                           {{"epsilon", epsilon}}));
    return parts.give(0, y);
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<EmbedLayerNormalization>({.op_type = "EmbedLayerNormalization",
                                                   .domain = microsoft_domain,
                                                   .inputs = {1, 9},
                                                   .outputs = {1, 3},
                                                   .infer = infer}));
}

}  // namespace driftscope::ops::embed_layer_normalization
