// Einsum, opset 12 to 21: sums of products over the labels that the output lacks. Ellipses broadcast,
// a label twice in one operand takes the diagonal, an equation without "->" has the labels that occur
// once, in alphabetical order. Any number of operands: every element is one sum, in the order in which
// the summed labels first appear, the last of them fastest.
#include <fmt/format.h>

#include "core/base/text.hpp"
#include "core/eval/integers.hpp"
#include "core/numerics/math.hpp"
#include "core/numerics/sum.hpp"
#include "core/ops/shared/einsum_plan.hpp"
#include "core/ops/shared/shape_rules.hpp"

namespace driftscope::ops::einsum {

Result<std::vector<TensorType>> infer(const InferContext& context) {
  std::vector<std::string_view> names(context.input_count(), "Inputs");
  std::vector<SymbolicShape> shapes;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!context.has_input(i)) return bad_input(fmt::format("input {}: omitted but required", i));
    DRIFTSCOPE_CHECK(expect_kind(context, i, names[i], Kinds::numeric));
    if (context.input(i).shape) shapes.push_back(*context.input(i).shape);
  }
  DRIFTSCOPE_TRY(const DType dtype, common_dtype(context, names));
  if (shapes.size() < names.size()) return std::vector{TensorType{dtype, std::nullopt}};
  DRIFTSCOPE_TRY(const EinsumLabels labels, label_einsum(context.node(), shapes));
  SymbolicShape y;
  for (const std::size_t label : labels.output) y.push_back(labels.sizes[label]);
  return std::vector{TensorType{dtype, std::move(y)}};
}

// Integers wrap around.
template <class T>
struct WrappingSum {
  std::uint64_t sum = 0;
  void add(T x) { sum += widen_integer(x); }
  void add_product(T a, T b) { sum += widen_integer(a) * widen_integer(b); }
  [[nodiscard]] T result() const { return cut_integer<T>(sum); }
};

template <class T>
T product(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return cut_integer<T>(widen_integer(a) * widen_integer(b));
  else
    return a * b;
}

// Elements [begin, end) of the output.
template <class T, class Accumulator>
void sum_products(const EinsumPlan& plan, std::span<const std::span<const T>> x, std::span<T> y,
                  std::int64_t begin, std::int64_t end) {
  const std::size_t operands = x.size();
  std::vector<const T*> at(operands);
  Shape coordinates(plan.summed.size(), 0);
  for (std::int64_t i = begin; i < end; ++i) {
    for (std::size_t k = 0; k < operands; ++k) {
      std::int64_t offset = 0;
      std::int64_t rest = i;
      for (std::size_t axis = plan.output.size(); axis-- > 0;) {
        offset += rest % plan.output[axis] * plan.output_strides[k][axis];
        rest /= plan.output[axis];
      }
      if (!x[k].empty()) at[k] = x[k].data() + offset;  // an empty operand has no terms to read
    }
    Accumulator sum;
    for (std::int64_t t = 0; t < plan.terms; ++t) {
      if (operands == 1) {
        sum.add(*at[0]);
      } else {
        T left = *at[0];
        for (std::size_t k = 1; k + 1 < operands; ++k) left = product(left, *at[k]);
        sum.add_product(left, *at[operands - 1]);
      }
      for (std::size_t axis = plan.summed.size(); axis-- > 0;) {
        const bool more = ++coordinates[axis] < plan.summed[axis];
        const std::int64_t steps = more ? 1 : 1 - plan.summed[axis];
        for (std::size_t k = 0; k < operands; ++k) at[k] += steps * plan.summed_strides[k][axis];
        if (more) break;
        coordinates[axis] = 0;
      }
    }
    y[static_cast<std::size_t>(i)] = sum.result();
  }
}

struct Einsum {
  template <class S>
  static Status run(KernelContext<S>& context) {
    std::vector<Shape> shapes;
    for (std::size_t i = 0; i < context.input_count(); ++i) shapes.push_back(context.shape(i));
    DRIFTSCOPE_TRY(const EinsumPlan plan, plan_einsum(context.node(), shapes));
    const std::int64_t elements = element_count(plan.output);
    const std::int64_t grain = std::max<std::int64_t>(1, 16384 / std::max<std::int64_t>(1, plan.terms));
    const auto run_with = [&]<class T, class Accumulator>(std::span<const std::span<const T>> x,
                                                          std::span<T> y) {
      context.parallel_for(elements, grain, [&](std::int64_t begin, std::int64_t end) {
        sum_products<T, Accumulator>(plan, x, y, begin, end);
      });
    };
    if (is_floating(context.output_dtype(0))) {
      std::vector<std::span<const S>> x;
      for (std::size_t i = 0; i < shapes.size(); ++i) x.push_back(context.real(i));
      run_with.template operator()<S, Sum<S>>(x, context.real_output(0));
      return {};
    }
    context.with_integer(context.output_dtype(0), [&]<class T>() {
      std::vector<std::span<const T>> x;
      for (std::size_t i = 0; i < shapes.size(); ++i) x.push_back(context.tensor(i).template values<T>());
      run_with.template operator()<T, WrappingSum<T>>(x,
                                                      context.tensor_output(0).template mutable_values<T>());
    });
    return {};
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<Einsum>(
      {.op_type = "Einsum", .since = 12, .inputs = {1, variadic}, .outputs = {1, 1}, .infer = infer}));
}

}  // namespace driftscope::ops::einsum
