// Compiled for size on the web (cmake/core.cmake).
#include "core/ops/shared/control_flow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/eval/integers.hpp"
#include "core/graph/attributes.hpp"
#include "core/numerics/bounded.hpp"
#include "core/ops/shared/shape_rules.hpp"

namespace driftscope {
namespace {

struct Iterations {
  int depth = 0;
  std::int64_t count = 0;
};
thread_local Iterations iterations;

// For an axis: the number of rows before it and of elements after it.
struct Around {
  std::size_t outer = 1;
  std::size_t inner = 1;
};
Around around(const Shape& shape, std::size_t axis, std::size_t behind) {
  return {static_cast<std::size_t>(element_count(std::span(shape).first(axis))),
          static_cast<std::size_t>(element_count(std::span(shape).subspan(behind)))};
}

// Bytes of one element in the buffer of a tensor; 4-bit ones have none of their own.
Result<std::size_t> element_bytes(DType dtype) {
  const int bits = bits_per_element(dtype);
  if (bits < 8) return unsupported(fmt::format("tensors of {} are not cut into slices", dtype_name(dtype)));
  return static_cast<std::size_t>(bits) / 8;
}

// Of any type of 8 bits and more, as S.
template <class S>
Result<std::vector<S>> elements_of(const Tensor& tensor) {
  if (is_floating(tensor.dtype())) return lift_values<S>(tensor);
  std::vector<S> result;
  const auto widen = [&](const auto values) {
    for (const auto x : values) result.push_back(static_cast<S>(static_cast<double>(x)));
  };
  if (tensor.dtype() == DType::boolean)
    widen(tensor.values<std::uint8_t>());
  else if (!with_integer(tensor.dtype(), [&]<class T>() { widen(tensor.values<T>()); }))
    return unsupported(fmt::format("tensors of {} are not put together", dtype_name(tensor.dtype())));
  return result;
}

}  // namespace

IterationScope::IterationScope() {
  if (iterations.depth++ == 0) iterations.count = 0;
}
IterationScope::~IterationScope() { --iterations.depth; }

Status IterationScope::next() {
  if (++iterations.count <= max_iterations) return {};
  return limit_error(
      fmt::format("the loop has not ended after {} iterations (those of loops inside it "
                  "included), the limit",
                  max_iterations));
}

template <class S>
Result<bool> condition_of(const Evaluated<S>& value, std::string_view what) {
  if (value.dtype != DType::boolean || value.tensor.elements() != 1)
    return bad_input(fmt::format("{}: expected one bool, got {} of shape {}", what, dtype_name(value.dtype),
                                 shape_text(value.shape)));
  if constexpr (std::is_same_v<S, Bounded>)
    if (!value.real.empty() && value.real[0].worst > 0.0)
      return unsupported(
          fmt::format("{}: rounding in earlier nodes may have decided it; record it "
                      "to judge this node",
                      what));
  return value.tensor.bytes()[0] != std::byte{0};
}

template <class S>
Result<Evaluated<S>> scalar_value(std::int64_t x) {
  DRIFTSCOPE_TRY(Tensor tensor, Tensor::make(DType::int64, {}));
  tensor.mutable_values<std::int64_t>()[0] = x;
  return Evaluated<S>{DType::int64, {}, {}, std::move(tensor)};
}

template <class S>
Result<Evaluated<S>> scalar_value(bool x) {
  DRIFTSCOPE_TRY(Tensor tensor, Tensor::make(DType::boolean, {}));
  tensor.mutable_bytes()[0] = x ? std::byte{1} : std::byte{0};
  return Evaluated<S>{DType::boolean, {}, {}, std::move(tensor)};
}

template <class S>
std::int64_t byte_size(const Evaluated<S>& value) {
  const auto bytes = tensor_byte_size(value.dtype, value.shape);
  return bytes.ok() ? *bytes : 0;
}

template <class S>
Result<Evaluated<S>> slice_at(const Evaluated<S>& value, std::size_t axis, std::int64_t at) {
  Evaluated<S> slice;
  slice.dtype = value.dtype;
  slice.shape = value.shape;
  slice.shape.erase(slice.shape.begin() + static_cast<std::ptrdiff_t>(axis));
  const auto [outer, inner] = around(value.shape, axis, axis + 1);
  const auto size = static_cast<std::size_t>(value.shape[axis]);
  const auto place = static_cast<std::size_t>(at);
  if (!value.real.empty()) {
    slice.real.reserve(outer * inner);
    for (std::size_t o = 0; o < outer; ++o) {
      const auto begin = value.real.begin() + static_cast<std::ptrdiff_t>((o * size + place) * inner);
      slice.real.insert(slice.real.end(), begin, begin + static_cast<std::ptrdiff_t>(inner));
    }
  }
  if (value.tensor.elements() == 0) {
    if (value.real.empty()) {
      DRIFTSCOPE_TRY(slice.tensor, Tensor::make(slice.dtype, slice.shape));
    }
    return slice;
  }
  DRIFTSCOPE_TRY(const std::size_t width, element_bytes(value.dtype));
  DRIFTSCOPE_TRY(slice.tensor, Tensor::make(slice.dtype, slice.shape));
  for (std::size_t o = 0; o < outer; ++o)
    std::memcpy(slice.tensor.mutable_bytes().data() + o * inner * width,
                value.tensor.bytes().data() + (o * size + place) * inner * width, inner * width);
  return slice;
}

template <class S>
Result<Evaluated<S>> stack(std::span<const Evaluated<S>> values, std::int64_t axis, const Value& empty) {
  Evaluated<S> result;
  result.dtype = values.empty() ? empty.dtype : values[0].dtype;
  if (values.empty()) {
    if (empty.dtype == DType::undefined)
      return unsupported(
          fmt::format("output {} of the body: no iteration ran and the model does not say "
                      "its type",
                      empty.name));
    for (const Dimension& size : empty.shape.value_or(SymbolicShape{}))
      result.shape.push_back(size.known() ? size.size : 0);
  } else {
    result.shape = values[0].shape;
  }
  DRIFTSCOPE_TRY(const std::size_t place, normalize_axis(axis, result.shape.size() + 1));
  const auto [outer, inner] = around(result.shape, place, place);
  const auto count = static_cast<std::size_t>(values.size());
  for (const Evaluated<S>& value : values)
    if (value.dtype != result.dtype || value.shape != result.shape)
      return bad_input(
          fmt::format("output {} of the body: {} of shape {} in one iteration, {} of shape {} in another",
                      empty.name, dtype_name(result.dtype), shape_text(result.shape), dtype_name(value.dtype),
                      shape_text(value.shape)));
  result.shape.insert(result.shape.begin() + static_cast<std::ptrdiff_t>(place),
                      static_cast<std::int64_t>(count));
  DRIFTSCOPE_TRY(const std::int64_t bytes, tensor_byte_size(result.dtype, result.shape));
  (void)bytes;
  const bool any_real =
      std::any_of(values.begin(), values.end(), [](const Evaluated<S>& v) { return !v.real.empty(); });
  if (any_real) {
    result.real.resize(static_cast<std::size_t>(element_count(result.shape)));
    for (std::size_t t = 0; t < count; ++t) {
      // Some may be known exactly: integers without bounds, floating ones that were not lifted yet.
      DRIFTSCOPE_TRY(const std::vector<S> exact, values[t].real.empty()
                                                     ? elements_of<S>(values[t].tensor)
                                                     : Result<std::vector<S>>(std::vector<S>()));
      const std::vector<S>& from = values[t].real.empty() ? exact : values[t].real;
      for (std::size_t o = 0; o < outer; ++o)
        std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(o * inner), inner,
                    result.real.begin() + static_cast<std::ptrdiff_t>((o * count + t) * inner));
    }
    if (is_floating(result.dtype)) return result;
  }
  const bool in_tensor = std::any_of(values.begin(), values.end(),
                                     [](const Evaluated<S>& v) { return v.tensor.elements() > 0; });
  DRIFTSCOPE_TRY(result.tensor, Tensor::make(result.dtype, result.shape));
  if (!in_tensor) return result;
  DRIFTSCOPE_TRY(const std::size_t width, element_bytes(result.dtype));
  for (std::size_t t = 0; t < count; ++t)
    for (std::size_t o = 0; o < outer; ++o)
      std::memcpy(result.tensor.mutable_bytes().data() + (o * count + t) * inner * width,
                  values[t].tensor.bytes().data() + o * inner * width, inner * width);
  return result;
}

TensorType common_type(const TensorType& a, const TensorType& b) {
  TensorType result{a.dtype == b.dtype ? a.dtype : DType::undefined, std::nullopt};
  if (!a.shape || !b.shape || a.shape->size() != b.shape->size()) return result;
  result.shape = a.shape;
  for (std::size_t i = 0; i < a.shape->size(); ++i)
    if ((*a.shape)[i] != (*b.shape)[i]) (*result.shape)[i] = Dimension{};
  return result;
}

std::vector<TensorType> infer_body(SubgraphTypes& subgraphs, std::span<const TensorType> before,
                                   std::vector<TensorType>& carried, std::span<const TensorType> after,
                                   std::size_t first_carried, std::size_t outputs) {
  constexpr int max_passes = 3;
  for (int pass = 0; pass <= max_passes; ++pass) {
    std::vector<TensorType> inputs(before.begin(), before.end());
    inputs.insert(inputs.end(), carried.begin(), carried.end());
    inputs.insert(inputs.end(), after.begin(), after.end());
    auto result = subgraphs.infer("body", inputs);
    if (!result.ok() || result->size() < outputs) break;
    bool stable = true;
    for (std::size_t i = 0; i < carried.size(); ++i) {
      TensorType wider = common_type(carried[i], (*result)[first_carried + i]);
      if (pass + 1 >= max_passes) wider.shape.reset();
      stable = stable && wider.shape == carried[i].shape && wider.dtype == carried[i].dtype;
      carried[i] = std::move(wider);
    }
    if (stable) return *std::move(result);
  }
  std::fill(carried.begin(), carried.end(), TensorType{});
  return std::vector<TensorType>(outputs);
}

#define DRIFTSCOPE_CONTROL_FLOW(S)                                                           \
  template Result<bool> condition_of<S>(const Evaluated<S>&, std::string_view);              \
  template Result<Evaluated<S>> scalar_value<S>(std::int64_t);                               \
  template Result<Evaluated<S>> scalar_value<S>(bool);                                       \
  template std::int64_t byte_size<S>(const Evaluated<S>&);                                   \
  template Result<Evaluated<S>> slice_at<S>(const Evaluated<S>&, std::size_t, std::int64_t); \
  template Result<Evaluated<S>> stack<S>(std::span<const Evaluated<S>>, std::int64_t, const Value&);
DRIFTSCOPE_CONTROL_FLOW(double)
DRIFTSCOPE_CONTROL_FLOW(Bounded)
DRIFTSCOPE_CONTROL_FLOW(float)
#undef DRIFTSCOPE_CONTROL_FLOW

}  // namespace driftscope
