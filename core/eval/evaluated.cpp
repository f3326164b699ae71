#include "core/eval/evaluated.hpp"

#include <fmt/format.h>

#include <new>
#include <type_traits>

#include "core/eval/room.hpp"
#include "core/model/element.hpp"
#include "core/numerics/bounded.hpp"
#include "core/numerics/simd/half.hpp"
#include "core/platform/platform.hpp"

namespace driftscope {
namespace {

constexpr std::int64_t lowering_grain = 1 << 15;  // elements worth handing to a thread

template <class S>
S scalar(double x) {
  if constexpr (std::is_same_v<S, float>)
    return static_cast<float>(x);
  else
    return S(x);
}

template <class S>
double plain(const S& x) {
  if constexpr (std::is_same_v<S, Bounded>)
    return x.value;
  else
    return static_cast<double>(x);
}

}  // namespace

template <class S>
std::vector<S> lift_values(const Tensor& tensor) {
  // A vector that is too long for 32 bits would throw something else.
  if (!expect_room("", tensor.shape(), sizeof(S)).ok()) throw std::bad_alloc();
  std::vector<S> result(static_cast<std::size_t>(tensor.elements()));
  visit_floating(tensor.dtype(), [&]<class E>() {
    const auto values = tensor.values<typename E::Stored>();
    if constexpr (std::is_same_v<S, float> && E::bits == 16) return widen(E::format, values, result);
    for (std::size_t i = 0; i < result.size(); ++i) {
      if constexpr (E::dtype == DType::float32)
        result[i] = S(values[i]);
      else
        result[i] = scalar<S>(E::to_double(values[i]));
    }
  });
  return result;
}

template <class S>
Evaluated<S> known(const Tensor& tensor) {
  Evaluated<S> result;
  result.dtype = tensor.dtype();
  result.shape = tensor.shape();
  result.tensor = tensor;
  return result;
}

template <class S>
Result<Evaluated<S>> lift(const Tensor& tensor) {
  Evaluated<S> result = known<S>(tensor);
  if (!is_floating(tensor.dtype())) return result;
  try {
    result.real = lift_values<S>(tensor);
  } catch (const std::bad_alloc&) {
    return no_room("tensor", tensor.shape(), sizeof(S));
  }
  result.tensor = Tensor();
  return result;
}

template <class S>
Result<Tensor> lower(const Evaluated<S>& value, ThreadPool* threads) {
  if (!is_floating(value.dtype) || is_known(value)) return value.tensor;
  DRIFTSCOPE_TRY(Tensor tensor, Tensor::make(value.dtype, value.shape));
  const auto fill = [&](auto values, auto convert) {
    const auto convert_range = [&](std::int64_t begin, std::int64_t end) {
      for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i)
        values[i] = convert(plain(value.real[i]));
    };
    const auto count = static_cast<std::int64_t>(values.size());
    if (threads != nullptr)
      threads->parallel_for(count, lowering_grain, convert_range);
    else
      convert_range(0, count);
  };
  visit_floating(value.dtype, [&]<class E>() {
    if constexpr (std::is_same_v<S, float> && E::bits == 16)
      return narrow(E::format, value.real, tensor.mutable_values<std::uint16_t>());
    fill(tensor.mutable_values<typename E::Stored>(), [](double x) { return E::nearest(x); });
  });
  return tensor;
}

#define DRIFTSCOPE_EVALUATED(S)                          \
  template std::vector<S> lift_values<S>(const Tensor&); \
  template Evaluated<S> known<S>(const Tensor&);         \
  template Result<Evaluated<S>> lift<S>(const Tensor&);  \
  template Result<Tensor> lower<S>(const Evaluated<S>&, ThreadPool*);
DRIFTSCOPE_EVALUATED(double)
DRIFTSCOPE_EVALUATED(Bounded)
DRIFTSCOPE_EVALUATED(float)
#undef DRIFTSCOPE_EVALUATED

}  // namespace driftscope
