// Sum, Mean, Max, Min of any number of inputs, broadcast; opset 6 to 21 (opset 6 without broadcasting).
// Max and Min also of integers (opset 12). NaN wins in Max and Min.
//
// Strict definition (float): the inputs from first to last; Mean divides the sum by their number.
#include <fmt/format.h>

#include "core/numerics/math.hpp"
#include "core/numerics/mean.hpp"
#include "core/numerics/sum.hpp"
#include "core/ops/shared/elementwise.hpp"

namespace driftscope::ops::variadic {

struct SumRow {
  static constexpr Kinds kinds = Kinds::floating;
  template <class T, class At>
  static T fold(std::size_t count, const At& at) {
    Sum<T> sum(at(0));
    for (std::size_t k = 1; k < count; ++k) sum.add(at(k));
    return sum.result();
  }
};
struct MeanRow {
  static constexpr Kinds kinds = Kinds::floating;
  template <class T, class At>
  static T fold(std::size_t count, const At& at) {
    Mean<T> mean(static_cast<std::int64_t>(count));
    for (std::size_t k = 0; k < count; ++k) mean.add(at(k));
    return mean.result();
  }
};
struct MaxRow {
  static constexpr Kinds kinds = Kinds::numeric;
  template <class T, class At>
  static T fold(std::size_t count, const At& at) {
    T largest = at(0);
    for (std::size_t k = 1; k < count; ++k) largest = math::max(largest, at(k));
    return largest;
  }
};
struct MinRow {
  static constexpr Kinds kinds = Kinds::numeric;
  template <class T, class At>
  static T fold(std::size_t count, const At& at) {
    T smallest = at(0);
    for (std::size_t k = 1; k < count; ++k) smallest = math::min(smallest, at(k));
    return smallest;
  }
};

template <class Row>
Result<std::vector<TensorType>> infer(const InferContext& context) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < context.input_count(); ++i) names.push_back(fmt::format("data_{}", i));
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!context.has_input(i)) return bad_input(fmt::format("{}: is left out", input_label(i, names[i])));
    DRIFTSCOPE_CHECK(expect_kind(context, i, names[i], Row::kinds));
  }
  const std::vector<std::string_view> views(names.begin(), names.end());
  DRIFTSCOPE_TRY(const DType dtype, common_dtype(context, views));
  return broadcast_type(context, dtype);
}

// inputs[k] lies at shape k.
template <class Row, class T, class S>
void fold_all(KernelContext<S>& context, const std::vector<std::span<const T>>& inputs, std::span<T> y) {
  if (y.empty()) return;
  std::vector<Shape> shapes;
  for (std::size_t k = 0; k < inputs.size(); ++k) shapes.push_back(context.shape(k));
  for_broadcast_rows(context, context.output_shape(0), shapes, [&](const BroadcastRow& row) {
    for (std::int64_t i = 0; i < row.columns; ++i)
      y[static_cast<std::size_t>(row.output + i)] =
          Row::template fold<T>(inputs.size(), [&](std::size_t k) -> const T& {
            return inputs[k][static_cast<std::size_t>(row.offsets[k] + i * row.steps[k])];
          });
  });
}

template <class Row>
struct Variadic {
  template <class S>
  static Status run(KernelContext<S>& context) {
    if (is_floating(context.output_dtype(0))) {
      std::vector<std::span<const S>> inputs;
      for (std::size_t k = 0; k < context.input_count(); ++k) inputs.push_back(context.real(k));
      fold_all<Row, S>(context, inputs, context.real_output(0));
      return {};
    }
    if constexpr (Row::kinds == Kinds::numeric)
      context.with_integer(context.output_dtype(0), [&]<class T>() {
        std::vector<std::span<const T>> inputs;
        for (std::size_t k = 0; k < context.input_count(); ++k)
          inputs.push_back(context.tensor(k).template values<T>());
        fold_all<Row, T>(context, inputs, context.tensor_output(0).template mutable_values<T>());
      });
    return {};
  }
};

template <class Row>
void add_row(OperatorTable& table, std::string_view op_type) {
  table.add(with_kernels<Variadic<Row>>({.op_type = op_type,
                                         .since = 6,
                                         .inputs = {1, driftscope::variadic},
                                         .outputs = {1, 1},
                                         .infer = infer<Row>}));
}

void add_to(OperatorTable& table) {
  add_row<SumRow>(table, "Sum");
  add_row<MeanRow>(table, "Mean");
  add_row<MaxRow>(table, "Max");
  add_row<MinRow>(table, "Min");
}

}  // namespace driftscope::ops::variadic
