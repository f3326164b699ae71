// MelWeightMatrix, opset 17 to 21: triangular filters on the mel scale, one column per filter.
// Edges are rounded down to whole bins, computed in double; where an edge lies within a float32
// rounding of a bin, the bound of its columns covers both.
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include <algorithm>

#include "core/base/float_bits.hpp"
#include "core/graph/attributes.hpp"
#include "core/numerics/math.hpp"
#include "core/ops/shared/shape_rules.hpp"

namespace driftscope::ops::mel_weight_matrix {

constexpr std::array<std::string_view, 5> names = {"num_mel_bins", "dft_length", "sample_rate",
                                                   "lower_edge_hertz", "upper_edge_hertz"};

Result<std::int64_t> one_size(const Tensor& tensor, std::size_t index) {
  DRIFTSCOPE_TRY(const Ints list, integers_of(tensor, input_label(index, names[index])));
  constexpr std::int64_t limit = std::int64_t{1} << 30;
  if (list.size() != 1 || list[0] < 1 || list[0] > limit)
    return bad_input(fmt::format("{}: expected one number from 1 to {}, got [{}]",
                                 input_label(index, names[index]), limit, fmt::join(list, ",")));
  return list[0];
}

Result<std::vector<TensorType>> infer(const InferContext& context) {
  DRIFTSCOPE_TRY(const std::int64_t number, int_attribute(context.node(), "output_datatype", 1));
  const auto dtype = dtype_from_onnx(number);
  if (!dtype || !is_floating(*dtype))
    return unsupported(
        fmt::format("attribute output_datatype: the matrix is made in floating-point "
                    "types, got number {}",
                    number));
  for (const std::size_t i : {3u, 4u}) DRIFTSCOPE_CHECK(expect_kind(context, i, names[i], Kinds::floating));
  TensorType y{*dtype, unknown_shape(2)};
  if (const Tensor* length = context.constant(1)) {
    DRIFTSCOPE_TRY(const std::int64_t n, one_size(*length, 1));
    (*y.shape)[0] = known_dimension(n / 2 + 1);
  }
  if (const Tensor* filters = context.constant(0)) {
    DRIFTSCOPE_TRY(const std::int64_t n, one_size(*filters, 0));
    (*y.shape)[1] = known_dimension(n);
  }
  return std::vector{std::move(y)};
}

// The weight of bin `at` in the filter with these edges.
double weight(std::int64_t at, std::int64_t low, std::int64_t centre, std::int64_t high) {
  if (low == centre) {
    if (at == centre) return 1.0;
  } else if (at >= low && at <= centre) {
    return static_cast<double>(at - low) / static_cast<double>(centre - low);
  }
  if (at >= centre && at < high) return static_cast<double>(high - at) / static_cast<double>(high - centre);
  return 0.0;
}

struct Edge {
  std::int64_t bin = 0;
  std::int64_t other = 0;  ///< the possible value in float32
};

struct MelWeightMatrix {
  template <class S>
  static Status run(KernelContext<S>& context) {
    DRIFTSCOPE_TRY(const std::int64_t filters, one_size(context.tensor(0), 0));
    DRIFTSCOPE_TRY(const std::int64_t length, one_size(context.tensor(1), 1));
    DRIFTSCOPE_TRY(const std::int64_t rate, one_size(context.tensor(2), 2));
    const auto mel = [&](std::size_t input) {
      const auto hertz = static_cast<double>(math::value(context.real(input)[0]));
      return 2595.0 * math::log(1.0 + hertz / 700.0) / math::log(10.0);
    };
    for (const std::size_t i : {3u, 4u})
      if (context.real(i).size() != 1)
        return bad_input(fmt::format("{}: expected one number, got shape {}", input_label(i, names[i]),
                                     shape_text(context.shape(i))));
    const double low = mel(3);
    const double step = (mel(4) - low) / static_cast<double>(filters + 2);
    std::vector<Edge> edges(static_cast<std::size_t>(filters + 2));
    for (std::size_t i = 0; i < edges.size(); ++i) {
      const double hertz = 700.0 * (math::pow(10.0, (low + static_cast<double>(i) * step) / 2595.0) - 1.0);
      const double at = static_cast<double>(length + 1) * hertz / static_cast<double>(rate);
      if (!(at >= 0.0 && at < 0x1p31))
        return bad_input(fmt::format(
            "lower_edge_hertz and upper_edge_hertz: edge {} lies at bin {}, expected at least 0", i, at));
      const double error = 64.0 * unit_roundoff_f32 * (at + 1.0);
      edges[i].bin = edges[i].other = static_cast<std::int64_t>(std::floor(at));
      for (const double end : {at - error, at + error})
        if (end >= 0.0 && static_cast<std::int64_t>(std::floor(end)) != edges[i].bin)
          edges[i].other = static_cast<std::int64_t>(std::floor(end));
    }
    const std::span<S> y = context.real_output(0);
    const std::int64_t bins = context.output_shape(0)[0];
    for (std::int64_t row = 0; row < bins; ++row)
      for (std::int64_t i = 0; i < filters; ++i) {
        const auto first = edges.begin() + i;
        const double value = weight(row, first[0].bin, first[1].bin, first[2].bin);
        S result = math::exact<S>(value);
        if constexpr (std::is_same_v<S, Bounded>) {
          double error = current_error_model().unit_roundoff * value;
          for (unsigned choice = 1; choice < 8; ++choice) {
            const auto edge = [&](unsigned k) {
              return (choice >> k & 1u) != 0 ? first[k].other : first[k].bin;
            };
            error = std::fmax(error, std::fabs(weight(row, edge(0), edge(1), edge(2)) - value));
          }
          result = Bounded(value, error, error);
        }
        y[static_cast<std::size_t>(row * filters + i)] = result;
      }
    return {};
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<MelWeightMatrix>(
      {.op_type = "MelWeightMatrix", .since = 17, .inputs = {5, 5}, .outputs = {1, 1}, .infer = infer}));
}

}  // namespace driftscope::ops::mel_weight_matrix
