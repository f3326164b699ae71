// TfIdfVectorizer, opset 9 to 21, of integer tokens: counts n-grams of a pool in each row, with up to
// max_skip_count tokens skipped between two tokens of one, and weights the counts. String pools are not
// supported, since strings are not.
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/graph/attributes.hpp"
#include "core/numerics/math.hpp"
#include "core/ops/shared/shape_rules.hpp"

namespace driftscope::ops::tf_idf_vectorizer {

struct Grams {
  std::string mode;
  std::int64_t shortest = 1;
  std::int64_t longest = 1;
  std::int64_t max_skip = 0;
  std::map<std::vector<std::int64_t>, std::size_t> pool;  // n-gram → its index in columns and weights
  Ints columns;                                           // of the output, by index in the pool
  std::vector<float> weights;
  std::int64_t width = 0;
};

Status read_pool(const Ints& tokens, const Ints& counts, Grams& grams) {
  std::size_t place = 0;
  for (std::size_t n = 0; n < counts.size(); ++n) {
    const std::int64_t begin = counts[n];
    const std::int64_t end = n + 1 < counts.size() ? counts[n + 1] : static_cast<std::int64_t>(tokens.size());
    const auto length = static_cast<std::int64_t>(n) + 1;
    if (begin < 0 || end < begin || end > static_cast<std::int64_t>(tokens.size()) ||
        (end - begin) % length != 0)
      return bad_input(fmt::format("attribute ngram_counts: {}-grams from {} to {} of a pool of {} tokens",
                                   length, begin, end, tokens.size()));
    for (std::int64_t i = begin; i < end; i += length)
      grams.pool.emplace(std::vector<std::int64_t>(tokens.begin() + i, tokens.begin() + i + length), place++);
  }
  if (place != grams.columns.size())
    return bad_input(
        fmt::format("attribute ngram_indexes: expected {} values as the pool has "
                    "n-grams, got {}",
                    place, grams.columns.size()));
  return {};
}

Result<Grams> read_grams(const Node& node) {
  if (node.attribute("pool_strings") != nullptr)
    return unsupported("attribute pool_strings: strings are not supported");
  Grams grams;
  DRIFTSCOPE_TRY(grams.mode, string_attribute(node, "mode", ""));
  if (grams.mode != "TF" && grams.mode != "IDF" && grams.mode != "TFIDF")
    return bad_input(fmt::format("attribute mode: expected TF, IDF or TFIDF, got '{}'", grams.mode));
  DRIFTSCOPE_TRY(grams.shortest, int_attribute(node, "min_gram_length", 1));
  DRIFTSCOPE_TRY(grams.longest, int_attribute(node, "max_gram_length", 1));
  DRIFTSCOPE_TRY(grams.max_skip, int_attribute(node, "max_skip_count", 0));
  constexpr std::int64_t max_length = 1 << 20;
  if (grams.shortest < 1 || grams.longest < grams.shortest || grams.longest > max_length ||
      grams.max_skip < 0 || grams.max_skip > max_length)
    return bad_input(fmt::format("lengths of n-grams from {} to {} with up to {} skips", grams.shortest,
                                 grams.longest, grams.max_skip));
  DRIFTSCOPE_TRY(const Ints tokens, ints_attribute(node, "pool_int64s", {}));
  DRIFTSCOPE_TRY(const Ints counts, ints_attribute(node, "ngram_counts", {}));
  DRIFTSCOPE_TRY(grams.columns, ints_attribute(node, "ngram_indexes", {}));
  DRIFTSCOPE_TRY(grams.weights, floats_attribute(node, "weights", {}));
  if (!grams.weights.empty() && grams.weights.size() != grams.columns.size())
    return bad_input(fmt::format("attribute weights: expected {} values as ngram_indexes has, got {}",
                                 grams.columns.size(), grams.weights.size()));
  for (const std::int64_t column : grams.columns) {
    if (column < 0 || column >= std::int64_t{1} << 31)
      return bad_input(fmt::format("attribute ngram_indexes: {} is not a column", column));
    grams.width = std::max(grams.width, column + 1);
  }
  DRIFTSCOPE_CHECK(read_pool(tokens, counts, grams));
  return grams;
}

Result<std::vector<TensorType>> infer(const InferContext& context) {
  DRIFTSCOPE_TRY(const Grams grams, read_grams(context.node()));
  const DType dtype = context.input(0).dtype;
  if (dtype != DType::undefined && dtype != DType::int32 && dtype != DType::int64)
    return bad_input(fmt::format("input 0 (X): expected int32 or int64, got {}", dtype_name(dtype)));
  DRIFTSCOPE_CHECK(expect_rank(context, 0, "X", 0, 2));
  TensorType y{DType::float32, std::nullopt};
  if (const auto& x = context.input(0).shape) {
    y.shape = SymbolicShape{};
    if (x->size() == 2) y.shape->push_back((*x)[0]);
    y.shape->push_back({grams.width, ""});
  }
  return std::vector{std::move(y)};
}

/// How often each n-gram of the pool is in the row.
std::vector<double> count_row(const Grams& grams, std::span<const std::int64_t> row) {
  std::vector<double> counts(grams.columns.size(), 0.0);
  const auto size = static_cast<std::int64_t>(row.size());
  std::vector<std::int64_t> gram;
  for (std::int64_t step = 1; step <= grams.max_skip + 1 && step <= std::max<std::int64_t>(size, 1); ++step)
    for (std::int64_t begin = 0; begin < size; ++begin) {
      gram.clear();
      for (std::int64_t at = begin; at < size && static_cast<std::int64_t>(gram.size()) < grams.longest;
           at += step) {
        gram.push_back(row[static_cast<std::size_t>(at)]);
        const auto length = static_cast<std::int64_t>(gram.size());
        // A single token is the same for every skip count.
        if (length < grams.shortest || (length == 1 && step > 1)) continue;
        if (const auto found = grams.pool.find(gram); found != grams.pool.end()) counts[found->second] += 1.0;
      }
    }
  return counts;
}

struct TfIdfVectorizer {
  template <class S>
  static Status run(KernelContext<S>& context) {
    DRIFTSCOPE_TRY(const Grams grams, read_grams(context.node()));
    const std::span<S> y = context.real_output(0);
    std::fill(y.begin(), y.end(), S(0.0f));
    const Shape& shape = context.shape(0);
    const std::int64_t rows = shape.size() == 2 ? shape[0] : 1;
    std::vector<std::int64_t> tokens;
    if (context.dtype(0) == DType::int32) {
      const auto values = context.tensor(0).template values<std::int32_t>();
      tokens.assign(values.begin(), values.end());
    } else {
      const auto values = context.tensor(0).template values<std::int64_t>();
      tokens.assign(values.begin(), values.end());
    }
    const std::int64_t columns = rows > 0 ? static_cast<std::int64_t>(tokens.size()) / rows : 0;
    for (std::int64_t row = 0; row < rows; ++row) {
      const auto counts = count_row(grams, std::span(tokens).subspan(static_cast<std::size_t>(row * columns),
                                                                     static_cast<std::size_t>(columns)));
      for (std::size_t i = 0; i < counts.size(); ++i) {
        S& out = y[static_cast<std::size_t>(row * grams.width + grams.columns[i])];
        const S weight = math::exact<S>(grams.weights.empty() ? 1.0 : static_cast<double>(grams.weights[i]));
        if (grams.mode == "TF")
          out = math::exact<S>(counts[i]);
        else if (grams.mode == "TFIDF")
          out = math::exact<S>(counts[i]) * weight;
        else
          out = counts[i] > 0.0 ? weight : S(0.0f);
      }
    }
    return {};
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<TfIdfVectorizer>(
      {.op_type = "TfIdfVectorizer", .since = 9, .inputs = {1, 1}, .outputs = {1, 1}, .infer = infer}));
}

}  // namespace driftscope::ops::tf_idf_vectorizer
