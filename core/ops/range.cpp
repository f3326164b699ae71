// Range, opset 11 to 21: start, start + delta, … before limit. There are max(⌈(limit − start)/delta⌉, 0)
// elements. Some runtimes multiply, others add delta repeatedly: the bound covers both.
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include <cmath>

#include "core/eval/evaluate.hpp"
#include "core/eval/integers.hpp"
#include "core/numerics/math.hpp"
#include "core/numerics/rounding.hpp"
#include "core/ops/shared/indices.hpp"
#include "core/ops/shared/shape_rules.hpp"

namespace driftscope::ops::range {

constexpr std::array<std::string_view, 3> names = {"start", "limit", "delta"};
constexpr double max_elements = 0x1p62;

template <class T>
Result<std::int64_t> integer_count(T start, T limit, T delta) {
  if (delta == T(0)) return bad_input("input 2 (delta): 0 never reaches the limit");
  const bool up = delta > T(0);
  if (up ? start >= limit : start <= limit) return 0;
  // Distances of 64-bit integers wrap around into the unsigned type without loss.
  const auto wide = [](T x) { return static_cast<std::uint64_t>(x); };
  const std::uint64_t distance = up ? wide(limit) - wide(start) : wide(start) - wide(limit);
  const std::uint64_t step = up ? wide(delta) : 0u - wide(delta);
  const std::uint64_t count = (distance - 1) / step + 1;
  if (count > static_cast<std::uint64_t>(max_elements))
    return bad_input(fmt::format("{} elements are more than a tensor can hold", count));
  return static_cast<std::int64_t>(count);
}

Result<std::int64_t> real_count(double start, double limit, double delta) {
  const double count = std::ceil((limit - start) / delta);
  if (delta == 0 || !(count < max_elements))
    return bad_input(
        fmt::format("start {}, limit {} and delta {} give no finite range", start, limit, delta));
  return static_cast<std::int64_t>(std::fmax(count, 0.0));
}

Result<std::int64_t> count_of(const Tensor& start, const Tensor& limit, const Tensor& delta) {
  for (const Tensor* tensor : {&start, &limit, &delta})
    if (tensor->elements() != 1)
      return bad_input(fmt::format("expected scalars, got shape {}", shape_text(tensor->shape())));
  if (is_floating(start.dtype())) {
    DRIFTSCOPE_TRY(const auto a, lift<double>(start));
    DRIFTSCOPE_TRY(const auto b, lift<double>(limit));
    DRIFTSCOPE_TRY(const auto c, lift<double>(delta));
    return real_count(a.real[0], b.real[0], c.real[0]);
  }
  Result<std::int64_t> result = 0;
  with_integer(start.dtype(), [&]<class T>() {
    result = integer_count(start.values<T>()[0], limit.values<T>()[0], delta.values<T>()[0]);
  });
  return result;
}

Result<std::vector<TensorType>> infer(const InferContext& context) {
  for (std::size_t i = 0; i < names.size(); ++i)
    DRIFTSCOPE_CHECK(expect_kind(context, i, names[i], Kinds::numeric));
  DRIFTSCOPE_TRY(const DType dtype, common_dtype(context, names));
  TensorType y{dtype, unknown_shape(1)};
  const Tensor* start = context.constant(0);
  const Tensor* limit = context.constant(1);
  const Tensor* delta = context.constant(2);
  if (start != nullptr && limit != nullptr && delta != nullptr) {
    DRIFTSCOPE_TRY(const std::int64_t count, count_of(*start, *limit, *delta));
    y.shape->front() = known_dimension(count);
  }
  return std::vector{std::move(y)};
}

template <class S>
S element(S start, S delta, std::int64_t i) {
  return start + math::exact<S>(static_cast<double>(i)) * delta;
}

// i successive additions, each rounding to at most half an ULP of the largest intermediate result.
template <>
Bounded element<Bounded>(Bounded start, Bounded delta, std::int64_t i) {
  const auto n = static_cast<double>(i);
  const double value = start.value + n * delta.value;
  const double inherited = start.worst + n * delta.worst;
  const double largest = std::fmax(std::fabs(start.value), std::fabs(value)) + inherited;
  const bool whole = std::floor(start.value) == start.value && std::floor(delta.value) == delta.value &&
                     largest * current_error_model().unit_roundoff <= 1.0;
  const double rounding =
      i == 0 || (whole && inherited == 0.0)
          ? 0.0
          : (n + 1.0) * rounding_error(current_error_model(), largest * (1.0 + n * 0x1p-23));
  return {value, inherited + rounding, start.likely + n * delta.likely + rounding};
}

struct Range {
  template <class S>
  static Status run(KernelContext<S>& context) {
    if (is_floating(context.dtype(0))) {
      const S start = context.real(0)[0];
      const S delta = context.real(2)[0];
      const auto y = context.real_output(0);
      for (std::size_t i = 0; i < y.size(); ++i)
        y[i] = element<S>(start, delta, static_cast<std::int64_t>(i));
      return {};
    }
    for (std::size_t i = 0; i < names.size(); ++i) DRIFTSCOPE_CHECK(expect_certain(context, i, names[i]));
    context.with_integer(context.dtype(0), [&]<class T>() {
      const auto start = widen_integer(context.tensor(0).template values<T>()[0]);
      const auto delta = widen_integer(context.tensor(2).template values<T>()[0]);
      const auto y = context.tensor_output(0).template mutable_values<T>();
      for (std::size_t i = 0; i < y.size(); ++i) y[i] = cut_integer<T>(start + delta * i);
    });
    return {};
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<Range>(
      {.op_type = "Range", .since = 11, .inputs = {3, 3}, .outputs = {1, 1}, .infer = infer}));
}

}  // namespace driftscope::ops::range
