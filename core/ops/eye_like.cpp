// EyeLike, opset 9 to 21: ones on diagonal k of a matrix of the input's shape.
// Trilu, opset 14 to 21: the upper or lower triangle from diagonal k on, of every matrix.
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include <algorithm>

#include "core/ops/shared/elements.hpp"
#include "core/ops/shared/indices.hpp"
#include "core/ops/shared/move.hpp"
#include "core/ops/shared/shape_rules.hpp"

namespace driftscope::ops::eye_like {

Result<std::vector<TensorType>> infer_eye(const InferContext& context) {
  DRIFTSCOPE_CHECK(expect_rank(context, 0, "input", 2, 2));
  TensorType y = context.input(0);
  if (context.node().attribute("dtype") != nullptr) {
    DRIFTSCOPE_TRY(const std::int64_t number, int_attribute(context.node(), "dtype", 0));
    const auto dtype = dtype_from_onnx(number);
    const int bits = dtype ? bits_per_element(*dtype) : 0;
    if (bits < 8 || bits > 64 || *dtype == DType::complex64)
      return bad_input(fmt::format("attribute dtype: {} is not a floating, integer or bool type", number));
    y.dtype = *dtype;
  } else {
    DRIFTSCOPE_CHECK(expect_kind(context, 0, "input", Kinds::numeric));
  }
  return std::vector{std::move(y)};
}

struct EyeLike {
  template <class S>
  static Status run(KernelContext<S>& context) {
    DRIFTSCOPE_TRY(const std::int64_t given, int_attribute(context.node(), "k", 0));
    const Shape& shape = context.output_shape(0);
    const std::int64_t k = std::clamp(given, -shape[0], shape[1]);
    std::vector<std::int64_t> ones;
    for (std::int64_t row = std::max<std::int64_t>(0, -k); row < shape[0] && row + k < shape[1]; ++row)
      ones.push_back(row * shape[1] + row + k);
    set_ones(context, 0, ones);
    return {};
  }
};

Result<std::vector<TensorType>> infer_trilu(const InferContext& context) {
  DRIFTSCOPE_CHECK(expect_kind(context, 0, "input", Kinds::fixed_size));
  DRIFTSCOPE_CHECK(expect_rank(context, 0, "input", 2, max_rank));
  DRIFTSCOPE_CHECK(expect_index(context, 1, "k"));
  return std::vector{context.input(0)};
}

struct Trilu {
  template <class S>
  static Status run(KernelContext<S>& context) {
    DRIFTSCOPE_CHECK(expect_certain(context, 1, "k"));
    DRIFTSCOPE_TRY(const bool upper, flag_attribute(context.node(), "upper", true));
    const Shape& shape = context.output_shape(0);
    const std::int64_t rows = shape[shape.size() - 2];
    const std::int64_t columns = shape.back();
    if (element_count(shape) == 0) return {};
    std::int64_t k = 0;
    if (context.has_input(1)) {
      DRIFTSCOPE_TRY(k, single_integer(context.tensor(1), 1, "k"));
    }
    k = std::clamp(k, -rows - columns, rows + columns);
    constexpr std::array<std::size_t, 1> inputs = {0};
    move_elements(context, inputs, 0, [&](auto sources, auto target) {
      const auto lines = static_cast<std::int64_t>(target.size()) / columns;
      for (std::int64_t line = 0; line < lines; ++line) {
        const std::int64_t diagonal = line % rows + k;
        const std::int64_t begin = upper ? std::clamp<std::int64_t>(diagonal, 0, columns) : 0;
        const std::int64_t end = upper ? columns : std::clamp<std::int64_t>(diagonal + 1, 0, columns);
        std::copy_n(sources[0].data() + line * columns + begin, end - begin,
                    target.data() + line * columns + begin);
      }
    });
    return {};
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<EyeLike>(
      {.op_type = "EyeLike", .since = 9, .inputs = {1, 1}, .outputs = {1, 1}, .infer = infer_eye}));
  table.add(with_kernels<Trilu>(
      {.op_type = "Trilu", .since = 14, .inputs = {1, 2}, .outputs = {1, 1}, .infer = infer_trilu}));
}

}  // namespace driftscope::ops::eye_like
