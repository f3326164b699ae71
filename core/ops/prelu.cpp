// PRelu, opset 7 to 21: slope·x for x < 0, else x (also for −0 and NaN). The slope is broadcast to the
// shape of X, not the other way round; one number per channel, [C], is also taken where it cannot be
// broadcast, as before opset 7.
#include <fmt/format.h>

#include <array>

#include "core/numerics/math.hpp"
#include "core/ops/shared/elementwise.hpp"

namespace driftscope::ops::prelu {

constexpr std::array<std::string_view, 2> names = {"X", "slope"};

bool reaches(const SymbolicShape& slope, const SymbolicShape& x) {
  const auto both = broadcast(x, slope);
  bool fits = both.ok() && both->size() == x.size();
  for (std::size_t i = 0; fits && i < x.size(); ++i) fits = unify((*both)[i], x[i]).has_value();
  return fits;
}

// [C], to be read as [C, 1, …].
bool is_per_channel(const SymbolicShape& slope, const SymbolicShape& x) {
  return slope.size() == 1 && x.size() > 2 && !reaches(slope, x) && unify(slope[0], x[1]).has_value();
}

Result<std::vector<TensorType>> infer(const InferContext& context) {
  for (std::size_t i = 0; i < 2; ++i) DRIFTSCOPE_CHECK(expect_kind(context, i, names[i], Kinds::numeric));
  DRIFTSCOPE_TRY(const DType dtype, common_dtype(context, names));
  const auto& x = context.input(0).shape;
  const auto& slope = context.input(1).shape;
  if (x && slope && !reaches(*slope, *x) && !is_per_channel(*slope, *x))
    return bad_input(
        fmt::format("input 1 (slope): shape {} cannot be broadcast to shape {} of "
                    "input 0 (X)",
                    shape_text(*slope), shape_text(*x)));
  return std::vector{TensorType{dtype, x}};
}

struct PRelu {
  template <class S>
  static Status run(KernelContext<S>& context) {
    Shape slope_shape = context.shape(1);
    const std::size_t rank = context.shape(0).size();
    if (is_per_channel(symbolic_shape(slope_shape), symbolic_shape(context.shape(0))))
      slope_shape.resize(rank - 1, 1);
    const auto map = [&](auto x, auto slope, auto y, const auto& apply) {
      map_broadcast(context, context.shape(0), x, slope_shape, slope, y, apply);
    };
    if (is_floating(context.dtype(0))) {
      map(context.real(0), context.real(1), context.real_output(0), [](S x, S slope) {
        return math::split_at(-x, S(0), [&](S) { return x; }, [&](S) { return slope * x; });
      });
      return {};
    }
    context.with_integer(context.dtype(0), [&]<class T>() {
      map(context.tensor(0).template values<T>(), context.tensor(1).template values<T>(),
          context.tensor_output(0).template mutable_values<T>(), [](T x, T slope) {
            if constexpr (std::is_signed_v<T>)
              if (x < 0) return cut_integer<T>(widen_integer(x) * widen_integer(slope));
            return x;
          });
    });
    return {};
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<PRelu>(
      {.op_type = "PRelu", .since = 7, .inputs = {2, 2}, .outputs = {1, 1}, .infer = infer}));
}

}  // namespace driftscope::ops::prelu
