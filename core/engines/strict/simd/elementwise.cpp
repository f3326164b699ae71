#include "core/engines/strict/simd/elementwise.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "core/numerics/simd_targets.hpp"
#include "core/numerics/sum.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/engines/strict/simd/elementwise.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/highway.h>

#include "core/engines/strict/simd/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace driftscope {
namespace HWY_NAMESPACE {

constexpr std::size_t lanes = hn::MaxLanes(FloatTag());

struct Exp {
  HWY_INLINE FloatVector operator()(FloatVector x) const { return StrictMath::exp(x); }
};
struct Tanh {
  HWY_INLINE FloatVector operator()(FloatVector x) const { return StrictMath::tanh(x); }
};
struct Sigmoid {
  HWY_INLINE FloatVector operator()(FloatVector x) const { return StrictMath::sigmoid(x); }
};
struct Erf {
  HWY_INLINE FloatVector operator()(FloatVector x) const { return StrictMath::erf(x); }
};
// As in core/ops/gelu.cpp.
struct Gelu {
  HWY_INLINE FloatVector operator()(FloatVector x) const {
    const FloatTag d;
    const auto root_half = hn::Set(d, static_cast<float>(0.70710678118654752));
    const auto twice = hn::Add(hn::Set(d, 1.0f), StrictMath::erf(hn::Mul(x, root_half)));
    return hn::Mul(hn::Mul(hn::Set(d, 0.5f), x), twice);
  }
};
struct GeluTanh {
  HWY_INLINE FloatVector operator()(FloatVector x) const {
    const FloatTag d;
    const auto cube = hn::Mul(hn::Set(d, static_cast<float>(0.044715)), hn::Mul(hn::Mul(x, x), x));
    const auto argument = hn::Mul(hn::Set(d, static_cast<float>(0.79788456080286536)), hn::Add(x, cube));
    const auto twice = hn::Add(hn::Set(d, 1.0f), StrictMath::tanh(argument));
    return hn::Mul(hn::Mul(hn::Set(d, 0.5f), x), twice);
  }
};
struct Relu {
  HWY_INLINE FloatVector operator()(FloatVector x) const {
    const auto zero = hn::Zero(FloatTag());
    return hn::IfThenElse(hn::Le(x, zero), zero, x);
  }
};
struct Add {
  HWY_INLINE FloatVector operator()(FloatVector a, FloatVector b) const { return hn::Add(a, b); }
};
struct Sub {
  HWY_INLINE FloatVector operator()(FloatVector a, FloatVector b) const { return hn::Sub(a, b); }
};
struct Mul {
  HWY_INLINE FloatVector operator()(FloatVector a, FloatVector b) const { return hn::Mul(a, b); }
};
struct Div {
  HWY_INLINE FloatVector operator()(FloatVector a, FloatVector b) const { return hn::Div(a, b); }
};
struct ScaleShift {
  HWY_INLINE FloatVector operator()(FloatVector x, FloatVector s, FloatVector t) const {
    return hn::Add(hn::Mul(x, s), t);
  }
};
struct Clip {
  HWY_INLINE FloatVector operator()(FloatVector x, FloatVector s, FloatVector t) const {
    x = hn::IfThenElse(hn::Or(hn::Gt(x, s), hn::IsNaN(x)), x, s);
    return hn::IfThenElse(hn::Or(hn::Lt(x, t), hn::IsNaN(x)), x, t);
  }
};

// The last, partial vector goes through a buffer; its other lanes hold zeros.
HWY_INLINE FloatVector load_part(const float* x, std::size_t count) {
  HWY_ALIGN float part[lanes] = {};
  std::copy_n(x, count, part);
  return hn::Load(FloatTag(), part);
}
HWY_INLINE void store_part(FloatVector v, float* y, std::size_t count) {
  HWY_ALIGN float part[lanes];
  hn::Store(v, FloatTag(), part);
  std::copy_n(part, count, y);
}

template <class Apply>
void unary(const float* x, float* y, std::size_t n) {
  const FloatTag d;
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(Apply()(hn::LoadU(d, x + i)), d, y + i);
  if (i < n) store_part(Apply()(load_part(x + i, n - i)), y + i, n - i);
}

template <class Apply>
void binary(const float* a, const float* b, float* y, std::size_t n) {
  const FloatTag d;
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(Apply()(hn::LoadU(d, a + i), hn::LoadU(d, b + i)), d, y + i);
  if (i < n) store_part(Apply()(load_part(a + i, n - i), load_part(b + i, n - i)), y + i, n - i);
}

template <class Apply>
void with_scalar(const float* x, float s, float* y, std::size_t n) {
  const FloatTag d;
  const auto right = hn::Set(d, s);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(Apply()(hn::LoadU(d, x + i), right), d, y + i);
  if (i < n) store_part(Apply()(load_part(x + i, n - i), right), y + i, n - i);
}

template <class Apply>
void with_two(const float* x, float s, float t, float* y, std::size_t n) {
  const FloatTag d;
  const auto first = hn::Set(d, s);
  const auto second = hn::Set(d, t);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(Apply()(hn::LoadU(d, x + i), first, second), d, y + i);
  if (i < n) store_part(Apply()(load_part(x + i, n - i), first, second), y + i, n - i);
}

// The order does not matter: NaN always wins, and of ±0 either is right for its client, Softmax.
float largest(const float* x, std::size_t n) {
  const FloatTag d;
  auto best = hn::Set(d, -std::numeric_limits<float>::infinity());
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto next = hn::LoadU(d, x + i);
    best = hn::IfThenElse(hn::Or(hn::Gt(best, next), hn::IsNaN(best)), best, next);
  }
  HWY_ALIGN float part[lanes];
  hn::Store(best, d, part);
  float result = part[0];
  for (std::size_t j = 1; j < lanes; ++j) result = result > part[j] || result != result ? result : part[j];
  for (; i < n; ++i) result = result > x[i] || result != result ? result : x[i];
  return result;
}

// `term(vector, tag)` gives the summands; likewise for a single float.
template <class Term>
HWY_INLINE float sum_of(const float* x, std::size_t n, const Term& term) {
  // Eight partial sums whatever the width: half a vector of 512 bits, two of 128.
  const hn::CappedTag<float, 8> d;
  constexpr std::size_t width = hn::MaxLanes(d);
  constexpr std::size_t parts = 8 / width;
  hn::Vec<decltype(d)> sums[parts];
  HWY_UNROLL(8)
  for (std::size_t j = 0; j < parts; ++j) sums[j] = hn::Zero(d);
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    HWY_UNROLL(8)
    for (std::size_t j = 0; j < parts; ++j)
      sums[j] = hn::Add(sums[j], term(hn::LoadU(d, x + i + j * width), d));
  }
  HWY_ALIGN std::array<float, 8> partial;
  HWY_UNROLL(8)
  for (std::size_t j = 0; j < parts; ++j) hn::StoreU(sums[j], d, partial.data() + j * width);
  for (; i < n; ++i) partial[i % 8] = partial[i % 8] + term(x[i]);
  return reduce_lanes(partial);
}

struct Itself {
  template <class V, class D>
  HWY_INLINE V operator()(V x, D) const {
    return x;
  }
  HWY_INLINE float operator()(float x) const { return x; }
};
struct SquaredDeviation {
  float mean;
  template <class V, class D>
  HWY_INLINE V operator()(V x, D d) const {
    const V deviation = hn::Sub(x, hn::Set(d, mean));
    return hn::Mul(deviation, deviation);
  }
  HWY_INLINE float operator()(float x) const {
    const float deviation = x - mean;
    return deviation * deviation;
  }
};

float sum(const float* x, std::size_t n) { return sum_of(x, n, Itself()); }
float sum_squared_deviations(const float* x, float mean, std::size_t n) {
  return sum_of(x, n, SquaredDeviation{mean});
}

ElementwiseKernels make_elementwise_kernels() {
  ElementwiseKernels kernels;
  kernels.exp = &unary<Exp>;
  kernels.tanh = &unary<Tanh>;
  kernels.sigmoid = &unary<Sigmoid>;
  kernels.erf = &unary<Erf>;
  kernels.gelu = &unary<Gelu>;
  kernels.gelu_tanh = &unary<GeluTanh>;
  kernels.relu = &unary<Relu>;
  kernels.add = &binary<Add>;
  kernels.sub = &binary<Sub>;
  kernels.mul = &binary<Mul>;
  kernels.div = &binary<Div>;
  kernels.add_scalar = &with_scalar<Add>;
  kernels.sub_scalar = &with_scalar<Sub>;
  kernels.mul_scalar = &with_scalar<Mul>;
  kernels.div_scalar = &with_scalar<Div>;
  kernels.scale_shift = &with_two<ScaleShift>;
  kernels.clip = &with_two<Clip>;
  kernels.largest = &largest;
  kernels.sum = &sum;
  kernels.sum_squared_deviations = &sum_squared_deviations;
  return kernels;
}

}  // namespace HWY_NAMESPACE
}  // namespace driftscope
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "core/engines/strict/simd/dispatch.hpp"

namespace driftscope {

HWY_EXPORT(make_elementwise_kernels);

ElementwiseKernels elementwise_kernels(const SimdTarget& target) {
  return simd_function(HWY_DISPATCH_TABLE(make_elementwise_kernels), target.highway)();
}

}  // namespace driftscope
#endif  // HWY_ONCE
