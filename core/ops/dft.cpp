// DFT, opset 17 to 21: the discrete Fourier transform along one axis of a real (last axis 1) or
// complex (last axis 2) tensor; its length is given by dft_length (the lane is cut or filled with
// zeros), else by the tensor. Inverse: divided by the length. Onesided: the first half of the bins; with
// inverse, the real numbers whose first half of bins the tensor holds.
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include <algorithm>

#include "core/base/checked.hpp"
#include "core/graph/attributes.hpp"
#include "core/ops/shared/fourier.hpp"
#include "core/ops/shared/shape_rules.hpp"

namespace driftscope::ops::dft {

struct DftAttributes {
  bool inverse = false;
  bool onesided = false;

  [[nodiscard]] bool makes_real() const { return inverse && onesided; }
};

// The real numbers that `bins` of a onesided spectrum are of, if nothing says how many.
Result<std::int64_t> real_length(std::int64_t bins) {
  constexpr std::int64_t most = std::int64_t{1} << 62;
  if (bins > 1 && bins < most) return 2 * (bins - 1);
  return bad_input(fmt::format("input 0 (input): {} bins do not say a length; it needs dft_length", bins));
}

Result<DftAttributes> read(const Node& node) {
  DftAttributes result;
  DRIFTSCOPE_TRY(result.inverse, flag_attribute(node, "inverse", false));
  DRIFTSCOPE_TRY(result.onesided, flag_attribute(node, "onesided", false));
  return result;
}

Result<std::int64_t> one_integer(const Tensor& tensor, std::size_t index, std::string_view name) {
  DRIFTSCOPE_TRY(const Ints list, integers_of(tensor, input_label(index, name)));
  if (list.size() != 1)
    return bad_input(fmt::format("{}: expected one number, got {}", input_label(index, name), list.size()));
  return list[0];
}

// The transformed axis: an attribute before opset 20, then an input. `axis` may be null: the
// default.
Result<std::size_t> read_axis(const Node& node, const Tensor* axis, std::size_t rank) {
  std::int64_t given = node.opset >= 20 ? -2 : 1;
  if (node.opset < 20) {
    DRIFTSCOPE_TRY(given, int_attribute(node, "axis", given));
  } else if (axis != nullptr) {
    DRIFTSCOPE_TRY(given, one_integer(*axis, 2, "axis"));
  }
  auto normal = normalize_axis(given, rank);
  if (!normal.ok()) return in_context(std::move(normal).error(), "axis");
  if (*normal + 1 == rank)
    return bad_input(fmt::format("axis {}: the last axis holds the parts of a number", given));
  return *normal;
}

Result<std::vector<TensorType>> infer(const InferContext& context) {
  DRIFTSCOPE_CHECK(expect_kind(context, 0, "input", Kinds::floating));
  DRIFTSCOPE_CHECK(expect_rank(context, 0, "input", 2, std::size_t(-1)));
  DRIFTSCOPE_TRY(const DftAttributes attributes, read(context.node()));
  TensorType y = context.input(0);
  if (!y.shape) return std::vector{std::move(y)};
  SymbolicShape& shape = *y.shape;
  if (shape.back().known() && shape.back().size != 1 && shape.back().size != 2)
    return bad_input(
        fmt::format("input 0 (input): expected 1 or 2 on the last axis, got shape {}", shape_text(shape)));
  if (attributes.makes_real() && shape.back().known() && shape.back().size != 2)
    return bad_input(
        fmt::format("input 0 (input): expected 2 on the last axis with inverse and onesided, got shape {}",
                    shape_text(shape)));
  shape.back() = known_dimension(attributes.makes_real() ? 1 : 2);
  const Tensor* axis = context.has_input(2) ? context.constant(2) : nullptr;
  if (context.has_input(2) && axis == nullptr) {
    for (std::size_t i = 0; i + 1 < shape.size(); ++i) shape[i] = Dimension{};
    return std::vector{std::move(y)};
  }
  DRIFTSCOPE_TRY(const std::size_t at, read_axis(context.node(), axis, shape.size()));
  if (context.has_input(1)) {
    shape[at] = Dimension{};
    if (const Tensor* length = context.constant(1)) {
      DRIFTSCOPE_TRY(const std::int64_t n, one_integer(*length, 1, "dft_length"));
      if (n < 1) return bad_input(fmt::format("input 1 (dft_length): expected at least 1, got {}", n));
      shape[at] = known_dimension(n);
    }
  } else if (attributes.makes_real() && shape[at].known()) {
    DRIFTSCOPE_TRY(const std::int64_t length, real_length(shape[at].size));
    shape[at] = known_dimension(length);
  } else if (attributes.makes_real()) {
    shape[at] = Dimension{};
  }
  if (attributes.onesided && !attributes.inverse)
    shape[at] = shape[at].known() ? known_dimension(shape[at].size / 2 + 1) : Dimension{};
  return std::vector{std::move(y)};
}

struct Dft {
  template <class S>
  static Status run(KernelContext<S>& context) {
    DRIFTSCOPE_TRY(const DftAttributes attributes, read(context.node()));
    const Shape& x_shape = context.shape(0);
    const Shape& y_shape = context.output_shape(0);
    DRIFTSCOPE_TRY(
        const std::size_t axis,
        read_axis(context.node(), context.has_input(2) ? &context.tensor(2) : nullptr, x_shape.size()));
    std::int64_t length = x_shape[axis];
    if (context.has_input(1)) {
      DRIFTSCOPE_TRY(length, one_integer(context.tensor(1), 1, "dft_length"));
    } else if (attributes.makes_real()) {
      DRIFTSCOPE_TRY(length, real_length(length));
    }
    const std::span<S> y = context.real_output(0);
    if (y.empty()) return {};
    const std::int64_t bins = y_shape[axis];
    const std::int64_t written = y_shape.back();  // parts of a number
    const std::int64_t lanes = static_cast<std::int64_t>(y.size()) / bins / written;
    const auto products = checked_product(Shape{lanes, bins, length});
    if (!products || *products > max_fourier_products)
      return limit_error(fmt::format("{} transforms of length {} need more than {} products", lanes, length,
                                     max_fourier_products));
    const std::int64_t parts = x_shape.back();
    const std::int64_t used = attributes.makes_real() ? length / 2 + 1 : length;
    const std::int64_t taken = std::min(used, x_shape[axis]);
    std::int64_t inner = 1;  // lanes between neighbours along the axis
    for (std::size_t i = axis + 1; i + 1 < x_shape.size(); ++i) inner *= x_shape[i];
    const Fourier<S> fourier(length, attributes.inverse);
    const std::span<const S> x = context.real(0);
    context.parallel_for(lanes, 1, [&](std::int64_t begin, std::int64_t end) {
      const auto held = static_cast<std::size_t>(attributes.makes_real() ? length : taken);
      std::vector<S> re(held);
      std::vector<S> im(parts == 2 ? held : 0);
      for (std::int64_t lane = begin; lane < end; ++lane) {
        const std::int64_t outer = lane / inner;
        for (std::int64_t j = 0; j < taken; ++j) {
          const auto from =
              static_cast<std::size_t>(((outer * x_shape[axis] + j) * inner + lane % inner) * parts);
          re[static_cast<std::size_t>(j)] = x[from];
          if (parts == 2) im[static_cast<std::size_t>(j)] = x[from + 1];
        }
        if (attributes.makes_real())  // the other half are the conjugates
          for (std::size_t j = static_cast<std::size_t>(used); j < held; ++j) {
            re[j] = re[held - j];
            im[j] = -im[held - j];
          }
        for (std::int64_t k = 0; k < bins; ++k) {
          const auto to = static_cast<std::size_t>(((outer * bins + k) * inner + lane % inner) * written);
          S unused = S(0);
          fourier.bin(k, re, im, y[to], written == 2 ? y[to + 1] : unused);
        }
      }
    });
    return {};
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<Dft>(
      {.op_type = "DFT", .since = 17, .inputs = {1, 3}, .outputs = {1, 1}, .infer = infer}));
}

}  // namespace driftscope::ops::dft
