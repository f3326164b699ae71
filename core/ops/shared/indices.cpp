#include "core/ops/shared/indices.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/eval/integers.hpp"
#include "core/ops/shared/shape_rules.hpp"

namespace driftscope {

Status expect_index(const InferContext& context, std::size_t input, std::string_view name) {
  if (!context.has_input(input)) return {};
  const DType dtype = context.input(input).dtype;
  if (dtype == DType::undefined || dtype == DType::int32 || dtype == DType::int64) return {};
  return bad_input(
      fmt::format("{}: expected int32 or int64, got {}", input_label(input, name), dtype_name(dtype)));
}

Result<std::vector<std::int64_t>> positions_of(const Tensor& tensor, std::int64_t size, std::size_t input,
                                               std::string_view name) {
  std::vector<std::int64_t> positions = indices_of(tensor);
  for (std::int64_t& at : positions) {
    if (at < -size || at >= size)
      return bad_input(
          fmt::format("{}: index {} is outside [{}, {})", input_label(input, name), at, -size, size));
    if (at < 0) at += size;
  }
  return positions;
}

Result<std::int64_t> single_integer(const Tensor& tensor, std::size_t input, std::string_view name) {
  if (tensor.elements() != 1)
    return bad_input(fmt::format("{}: expected one element, got shape {}", input_label(input, name),
                                 shape_text(tensor.shape())));
  std::optional<std::int64_t> result;
  with_integer(tensor.dtype(), [&]<class T>() { result = static_cast<std::int64_t>(tensor.values<T>()[0]); });
  if (!result)
    return bad_input(
        fmt::format("{}: expected an integer, got {}", input_label(input, name), dtype_name(tensor.dtype())));
  return *result;
}

Result<std::vector<std::size_t>> normalize_axes(std::span<const std::int64_t> axes, std::size_t rank) {
  std::vector<std::size_t> result;
  std::vector<bool> seen(rank, false);
  for (const std::int64_t axis : axes) {
    DRIFTSCOPE_TRY(const std::size_t normal, normalize_axis(axis, rank));
    if (seen[normal])
      return bad_input(fmt::format("axes: [{}] names axis {} twice", fmt::join(axes, ","), normal));
    seen[normal] = true;
    result.push_back(normal);
  }
  return result;
}

Result<GivenInts> read_ints(const InferContext& context, const IntsSource& source) {
  GivenInts result;
  if (context.opset() < source.input_since) {
    if (context.has_input(source.input))
      return bad_input(fmt::format("{}: {} is an attribute before opset {}",
                                   input_label(source.input, source.name), source.name, source.input_since));
    result.given = context.node().attribute(source.name) != nullptr;
    if (!result.given) return result;
    DRIFTSCOPE_TRY(result.values, ints_attribute(context.node(), source.name, {}));
    return result;
  }
  result.given = context.has_input(source.input);
  if (!result.given) return result;
  DRIFTSCOPE_CHECK(expect_index(context, source.input, source.name));
  DRIFTSCOPE_CHECK(expect_rank(context, source.input, source.name, 0, 1));
  if (const Tensor* values = context.constant(source.input)) {
    DRIFTSCOPE_TRY(result.values, integers_of(*values, input_label(source.input, source.name)));
  }
  return result;
}

template <class S>
Status expect_certain(const KernelContext<S>& context, std::size_t input, std::string_view name) {
  if constexpr (std::is_same_v<S, Bounded>) {
    if (!context.has_input(input)) return {};
    const auto bounds = context.real(input);
    if (std::any_of(bounds.begin(), bounds.end(), [](const Bounded& x) { return x.worst > 0.0; }))
      return unsupported(
          fmt::format("{}: rounding in earlier nodes may have changed it; record it to judge this node",
                      input_label(input, name)));
  }
  return {};
}
template Status expect_certain(const KernelContext<double>&, std::size_t, std::string_view);
template Status expect_certain(const KernelContext<Bounded>&, std::size_t, std::string_view);
template Status expect_certain(const KernelContext<float>&, std::size_t, std::string_view);

}  // namespace driftscope
