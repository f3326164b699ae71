// Relu, Sigmoid, Tanh, opset 6 to 21: one input, the same shape. One row each.
// Relu is max(x, 0): NaN stays NaN, −0 becomes +0 (strict); it also takes integers (opset 14).
#include <type_traits>

#include "core/ops/support/elementwise.hpp"
#include "core/ops/support/math.hpp"
#include "core/ops/support/shape_rules.hpp"

namespace driftscope {
namespace {

struct Relu {
  static constexpr Kinds kinds = Kinds::numeric;
  template <class T>
  static T apply(T x) {
    // LLVM 19 turns the select of math::max into wasm's pmax, which keeps −0; a select on "less" it
    // translates exactly, and adding +0 then changes nothing but the sign of −0.
    if constexpr (std::is_same_v<T, float>) return (x < 0.0f ? 0.0f : x) + 0.0f;
    else return math::max(x, T(0));
  }
};
struct Sigmoid {
  static constexpr Kinds kinds = Kinds::floating;
  template <class T>
  static T apply(T x) { return math::sigmoid(x); }
};
struct Tanh {
  static constexpr Kinds kinds = Kinds::floating;
  template <class T>
  static T apply(T x) { return math::tanh(x); }
};

template <class Row>
Result<std::vector<TensorType>> infer(const InferContext& context) {
  DRIFTSCOPE_CHECK(expect_kind(context, 0, "X", Row::kinds));
  return std::vector{context.input(0)};
}

template <class Row>
struct Unary {
  template <class S>
  static Status run(KernelContext<S>& context) {
    if (is_floating(context.output_dtype(0))) {
      map_elements<S>(context, context.real(0), context.real_output(0),
                      [](S x) { return Row::apply(x); });
      return {};
    }
    if constexpr (Row::kinds == Kinds::numeric)
      with_integer(context.output_dtype(0), [&]<class T>() {
        map_elements<T>(context, context.tensor(0).template values<T>(),
                        context.tensor_output(0).template mutable_values<T>(),
                        [](T x) { return Row::apply(x); });
      });
    return {};
  }
};

template <class Row>
void add_row(OperatorTable& table, std::string_view op_type) {
  table.add(with_kernels<Unary<Row>>({.op_type = op_type,
                                      .since = 6,
                                      .inputs = {1, 1},
                                      .outputs = {1, 1},
                                      .infer = infer<Row>}));
}

}  // namespace

void register_elementwise_unary(OperatorTable& table) {
  add_row<Relu>(table, "Relu");
  add_row<Sigmoid>(table, "Sigmoid");
  add_row<Tanh>(table, "Tanh");
}

}  // namespace driftscope
