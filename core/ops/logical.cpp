// Operators on bool and on bits, broadcast: And, Or, Xor, Not (opset 7 to 21), BitwiseAnd,
// BitwiseOr, BitwiseXor, BitwiseNot (opset 18 to 28), BitShift (opset 11 to 28; of signed integers from 28).
// Exact. A shift by the width or more, or by a negative number, leaves no bit: 0, or −1 of a negative number
// that is shifted right, whose sign fills in.
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include <array>
#include <limits>

#include "core/graph/attributes.hpp"
#include "core/ops/shared/elementwise.hpp"

namespace driftscope::ops::logical {

// Bools are bytes; any byte but 0 is true.
struct And {
  template <class T>
  static T apply(T a, T b) {
    return a != 0 && b != 0;
  }
};
struct Or {
  template <class T>
  static T apply(T a, T b) {
    return a != 0 || b != 0;
  }
};
struct Xor {
  template <class T>
  static T apply(T a, T b) {
    return (a != 0) != (b != 0);
  }
};
struct BitwiseAnd {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(a & b);
  }
};
struct BitwiseOr {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(a | b);
  }
};
struct BitwiseXor {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};
struct ShiftLeft {
  template <class T>
  static T apply(T a, T b) {
    using Bits = std::make_unsigned_t<T>;
    const auto by = static_cast<Bits>(b);  // negative numbers are too large
    return by < std::numeric_limits<Bits>::digits ? static_cast<T>(std::uint64_t{static_cast<Bits>(a)} << by)
                                                  : T(0);
  }
};
struct ShiftRight {
  template <class T>
  static T apply(T a, T b) {
    using Bits = std::make_unsigned_t<T>;
    const auto by = static_cast<Bits>(b);
    return by < std::numeric_limits<Bits>::digits ? static_cast<T>(a >> by) : static_cast<T>(a < 0 ? -1 : 0);
  }
};

constexpr std::array<std::string_view, 2> names = {"A", "B"};

template <Kinds kinds>
Result<std::vector<TensorType>> infer(const InferContext& context) {
  for (std::size_t i = 0; i < 2; ++i) DRIFTSCOPE_CHECK(expect_kind(context, i, names[i], kinds));
  DRIFTSCOPE_TRY(const DType dtype, common_dtype(context, names));
  return broadcast_type(context, dtype);
}

template <class Row, class T, class S>
void apply_to(KernelContext<S>& context) {
  map_broadcast(context, context.shape(0), context.tensor(0).template values<T>(), context.shape(1),
                context.tensor(1).template values<T>(), context.tensor_output(0).template mutable_values<T>(),
                [](T a, T b) { return Row::apply(a, b); });
}

template <class Row>
struct Binary {
  template <class S>
  static Status run(KernelContext<S>& context) {
    context.with_integer_or_bool(context.dtype(0), [&]<class T>() { apply_to<Row, T>(context); });
    return {};
  }
};

Result<bool> shifts_left(const Node& node) {
  DRIFTSCOPE_TRY(const std::string direction, string_attribute(node, "direction", ""));
  if (direction != "LEFT" && direction != "RIGHT")
    return bad_input(fmt::format("attribute direction: expected LEFT or RIGHT, got \"{}\"", direction));
  return direction == "LEFT";
}

Result<std::vector<TensorType>> infer_shift(const InferContext& context) {
  if (auto left = shifts_left(context.node()); !left.ok()) return std::move(left).error();
  return context.node().opset >= 28 ? infer<Kinds::integer>(context)
                                    : infer<Kinds::unsigned_integer>(context);
}

struct BitShift {
  template <class S>
  static Status run(KernelContext<S>& context) {
    DRIFTSCOPE_TRY(const bool left, shifts_left(context.node()));
    context.with_integer(context.dtype(0), [&]<class T>() {
      if (left)
        apply_to<ShiftLeft, T>(context);
      else
        apply_to<ShiftRight, T>(context);
    });
    return {};
  }
};

struct Not {
  template <class S>
  static Status run(KernelContext<S>& context) {
    map_elements(context, context.tensor(0).template values<std::uint8_t>(),
                 context.tensor_output(0).template mutable_values<std::uint8_t>(),
                 [](std::uint8_t x) { return std::uint8_t(x == 0); });
    return {};
  }
};

struct BitwiseNot {
  static constexpr Kinds kinds = Kinds::integer;
  template <class T>
  T apply(T x) const {
    return static_cast<T>(~x);
  }
};

Result<std::vector<TensorType>> infer_not(const InferContext& context) {
  DRIFTSCOPE_CHECK(expect_kind(context, 0, "X", Kinds::boolean));
  return std::vector{context.input(0)};
}

template <class Row, Kinds kinds>
void add_binary(OperatorTable& table, std::string_view op_type, std::int64_t since) {
  table.add(with_kernels<Binary<Row>>(
      {.op_type = op_type, .since = since, .inputs = {2, 2}, .outputs = {1, 1}, .infer = infer<kinds>}));
}

void add_to(OperatorTable& table) {
  add_binary<And, Kinds::boolean>(table, "And", 7);
  add_binary<Or, Kinds::boolean>(table, "Or", 7);
  add_binary<Xor, Kinds::boolean>(table, "Xor", 7);
  add_binary<BitwiseAnd, Kinds::integer>(table, "BitwiseAnd", 18);
  add_binary<BitwiseOr, Kinds::integer>(table, "BitwiseOr", 18);
  add_binary<BitwiseXor, Kinds::integer>(table, "BitwiseXor", 18);
  add_unary<BitwiseNot>(table, "BitwiseNot", 18);
  table.add(with_kernels<Not>({.op_type = "Not", .inputs = {1, 1}, .outputs = {1, 1}, .infer = infer_not}));
  table.add(with_kernels<BitShift>(
      {.op_type = "BitShift", .since = 11, .inputs = {2, 2}, .outputs = {1, 1}, .infer = infer_shift}));
}

}  // namespace driftscope::ops::logical
