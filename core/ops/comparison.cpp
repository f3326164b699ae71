// Comparisons, opset 7 to 21: Equal, Greater, GreaterOrEqual, Less, LessOrEqual (two inputs, broadcast),
// IsInf, IsNaN (one). The result is bool. NaN equals nothing; ±0 are equal.
//
// Exact on exact inputs. Where inputs carry errors that reach across the border, either result is
// allowed.
// Compiled for size on the web (cmake/core.cmake).
#include <array>

#include "core/graph/attributes.hpp"
#include "core/numerics/math.hpp"
#include "core/ops/shared/elementwise.hpp"

namespace driftscope::ops::comparison {

struct Equal {
  static constexpr Kinds kinds = Kinds::numeric_or_bool;
  template <class T>
  static bool apply(T a, T b) {
    return a == b;
  }
};
struct Greater {
  static constexpr Kinds kinds = Kinds::numeric;
  template <class T>
  static bool apply(T a, T b) {
    return a > b;
  }
};
struct GreaterOrEqual {
  static constexpr Kinds kinds = Kinds::numeric;
  template <class T>
  static bool apply(T a, T b) {
    return a >= b;
  }
};
struct Less {
  static constexpr Kinds kinds = Kinds::numeric;
  template <class T>
  static bool apply(T a, T b) {
    return a < b;
  }
};
struct LessOrEqual {
  static constexpr Kinds kinds = Kinds::numeric;
  template <class T>
  static bool apply(T a, T b) {
    return a <= b;
  }
};

constexpr std::array<std::string_view, 2> names = {"A", "B"};

template <class Row>
Result<std::vector<TensorType>> infer(const InferContext& context) {
  for (std::size_t i = 0; i < 2; ++i) DRIFTSCOPE_CHECK(expect_kind(context, i, names[i], Row::kinds));
  DRIFTSCOPE_TRY([[maybe_unused]] const DType dtype, common_dtype(context, names));
  return broadcast_type(context, DType::boolean);
}

// A bool, and whether the other value is allowed, too.
Bounded truth(bool value, bool unsure, bool likely) {
  return {value ? 1.0 : 0.0, unsure ? 1.0 : 0.0, likely ? 1.0 : 0.0};
}

template <class Row>
struct Comparison {
  template <class S>
  static Status run(KernelContext<S>& context) {
    const auto y = context.tensor_output(0).template mutable_values<std::uint8_t>();
    if (!is_floating(context.dtype(0))) {
      context.with_integer_or_bool(context.dtype(0), [&]<class T>() {
        map_broadcast(context, context.shape(0), context.tensor(0).template values<T>(), context.shape(1),
                      context.tensor(1).template values<T>(), y,
                      [](T a, T b) { return std::uint8_t(Row::apply(a, b)); });
      });
      return {};
    }
    const auto compare = [&](auto out, const auto& apply) {
      map_broadcast(context, context.shape(0), context.real(0), context.shape(1), context.real(1), out,
                    apply);
    };
    compare(y, [](S a, S b) { return std::uint8_t(Row::apply(math::value(a), math::value(b))); });
    if constexpr (std::is_same_v<S, Bounded>) {
      if (!math::has_error(context.real(0)) && !math::has_error(context.real(1))) return {};
      DRIFTSCOPE_TRY(const std::span<Bounded> bounds, context.bounds_output(0));
      compare(bounds, [](Bounded a, Bounded b) {
        const double apart = std::fabs(a.value - b.value);
        const bool exact = a.worst + b.worst == 0.0;
        return truth(Row::apply(a.value, b.value), !exact && !(apart > a.worst + b.worst),
                     !exact && !(apart > a.likely + b.likely));
      });
    }
    return {};
  }
};

struct IsNaN {
  static Result<IsNaN> read(const Node&) { return IsNaN{}; }
  bool apply(double x) const { return x != x; }
};

struct IsInf {
  bool positive = true;
  bool negative = true;
  static Result<IsInf> read(const Node& node) {
    DRIFTSCOPE_TRY(const bool positive, flag_attribute(node, "detect_positive", true));
    DRIFTSCOPE_TRY(const bool negative, flag_attribute(node, "detect_negative", true));
    return IsInf{positive, negative};
  }
  bool apply(double x) const { return std::isinf(x) && (x > 0 ? positive : negative); }
};

template <class Row>
Result<std::vector<TensorType>> infer_test(const InferContext& context) {
  DRIFTSCOPE_CHECK(expect_kind(context, 0, "X", Kinds::floating));
  if (auto row = Row::read(context.node()); !row.ok()) return std::move(row).error();
  return std::vector{TensorType{DType::boolean, context.input(0).shape}};
}

template <class Row>
struct Test {
  template <class S>
  static Status run(KernelContext<S>& context) {
    DRIFTSCOPE_TRY(const Row row, Row::read(context.node()));
    map_elements(context, context.real(0), context.tensor_output(0).template mutable_values<std::uint8_t>(),
                 [&](const S& x) { return std::uint8_t(row.apply(static_cast<double>(math::value(x)))); });
    if constexpr (std::is_same_v<S, Bounded>) {
      if (!math::has_error(context.real(0))) return {};
      DRIFTSCOPE_TRY(const std::span<Bounded> bounds, context.bounds_output(0));
      map_elements(context, context.real(0), bounds, [&](const Bounded& x) {
        const double largest = current_error_model().largest;
        const bool unsure = x.worst > 0.0 && !(std::fabs(x.value) + x.worst <= largest);
        return truth(row.apply(x.value), unsure, unsure);
      });
    }
    return {};
  }
};

template <class Row>
void add_comparison(OperatorTable& table, std::string_view op_type, std::int64_t since) {
  table.add(with_kernels<Comparison<Row>>(
      {.op_type = op_type, .since = since, .inputs = {2, 2}, .outputs = {1, 1}, .infer = infer<Row>}));
}

template <class Row>
void add_test(OperatorTable& table, std::string_view op_type, std::int64_t since) {
  table.add(with_kernels<Test<Row>>(
      {.op_type = op_type, .since = since, .inputs = {1, 1}, .outputs = {1, 1}, .infer = infer_test<Row>}));
}

void add_to(OperatorTable& table) {
  add_comparison<Equal>(table, "Equal", 7);
  add_comparison<Greater>(table, "Greater", 7);
  add_comparison<GreaterOrEqual>(table, "GreaterOrEqual", 12);
  add_comparison<Less>(table, "Less", 7);
  add_comparison<LessOrEqual>(table, "LessOrEqual", 12);
  add_test<IsNaN>(table, "IsNaN", 9);
  add_test<IsInf>(table, "IsInf", 10);
}

}  // namespace driftscope::ops::comparison
