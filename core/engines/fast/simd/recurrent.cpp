#include "core/engines/fast/simd/recurrent.hpp"

#include <algorithm>

#include "core/ops/support/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/engines/fast/simd/recurrent.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/highway.h>

#include "core/engines/fast/simd/activations-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace driftscope::fast {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

constexpr std::size_t lanes = hn::MaxLanes(FloatTag());
// As many sums as it takes to keep two multiply-add units busy, whose results come four cycles later.
constexpr std::size_t vectors = 8;

void add_product(const float* HWY_RESTRICT packed, const float* HWY_RESTRICT h, std::int64_t depth,
                 std::int64_t blocks, float* HWY_RESTRICT sums) {
  const FloatTag d;
  for (std::int64_t block = 0; block < blocks; ++block, sums += vectors * lanes) {
    FloatVector sum[vectors];
    HWY_UNROLL(8)
    for (std::size_t v = 0; v < vectors; ++v) sum[v] = hn::LoadU(d, sums + v * lanes);
    for (std::int64_t k = 0; k < depth; ++k, packed += vectors * lanes) {
      const FloatVector x = hn::Set(d, h[k]);
      HWY_UNROLL(8)
      for (std::size_t v = 0; v < vectors; ++v)
        sum[v] = mul_add(x, hn::Load(d, packed + v * lanes), sum[v]);
    }
    HWY_UNROLL(8)
    for (std::size_t v = 0; v < vectors; ++v) hn::StoreU(sum[v], d, sums + v * lanes);
  }
}

// body(load, store, i): for whole vectors at i, then for the rest through a buffer.
template <class Body>
HWY_INLINE void for_each_vector(std::int64_t n, const Body& body) {
  const FloatTag d;
  const auto width = static_cast<std::int64_t>(lanes);
  std::int64_t i = 0;
  for (; i + width <= n; i += width)
    body([&](const float* x) { return hn::LoadU(d, x + i); },
         [&](FloatVector v, float* y) { hn::StoreU(v, d, y + i); });
  if (i == n) return;
  const auto rest = static_cast<std::size_t>(n - i);
  body(
      [&](const float* x) {
        HWY_ALIGN float part[lanes] = {};
        std::copy_n(x + i, rest, part);
        return hn::Load(d, part);
      },
      [&](FloatVector v, float* y) {
        HWY_ALIGN float part[lanes];
        hn::Store(v, d, part);
        std::copy_n(part, rest, y + i);
      });
}

// (1 − z)·candidate + z·h.
HWY_INLINE FloatVector blend(const activations::Constants& k, FloatVector z, FloatVector candidate,
                             FloatVector h) {
  const FloatVector rest = hn::Sub(activations::every(k.one), z);
  return mul_add(rest, candidate, hn::Mul(z, h));
}

void lstm(const float* gates, std::int64_t n, float* c, float* h) {
  const activations::Constants& k = activations::constants();
  for_each_vector(n, [&](const auto& load, const auto& store) {
    const FloatVector i = activations::sigmoid(k, load(gates));
    const FloatVector f = activations::sigmoid(k, load(gates + 2 * n));
    const FloatVector candidate = activations::tanh(k, load(gates + 3 * n));
    const FloatVector cell = mul_add(f, load(c), hn::Mul(i, candidate));
    const FloatVector o = activations::sigmoid(k, load(gates + n));
    store(cell, c);
    store(hn::Mul(o, activations::tanh(k, cell)), h);
  });
}

void gru(const float* gates, const float* x, const float* linear, std::int64_t n, float* h) {
  const activations::Constants& k = activations::constants();
  for_each_vector(n, [&](const auto& load, const auto& store) {
    const FloatVector z = activations::sigmoid(k, load(gates));
    const FloatVector r = activations::sigmoid(k, load(gates + n));
    const FloatVector candidate = activations::tanh(k, mul_add(r, load(linear), load(x)));
    store(blend(k, z, candidate, load(h)), h);
  });
}

void reset(const float* r, const float* h, std::int64_t n, float* product) {
  const activations::Constants& k = activations::constants();
  for_each_vector(n, [&](const auto& load, const auto& store) {
    store(hn::Mul(activations::sigmoid(k, load(r)), load(h)), product);
  });
}

void update(const float* z, const float* candidate, std::int64_t n, float* h) {
  const activations::Constants& k = activations::constants();
  for_each_vector(n, [&](const auto& load, const auto& store) {
    store(blend(k, activations::sigmoid(k, load(z)), activations::tanh(k, load(candidate)), load(h)), h);
  });
}

void rnn(const float* sums, std::int64_t n, float* h) {
  const activations::Constants& k = activations::constants();
  for_each_vector(n, [&](const auto& load, const auto& store) {
    store(activations::tanh(k, load(sums)), h);
  });
}

RecurrentKernels make_recurrent_kernels() {
  RecurrentKernels kernels;
  kernels.block = static_cast<std::int64_t>(vectors * lanes);
  kernels.add_product = &add_product;
  kernels.lstm = &lstm;
  kernels.gru = &gru;
  kernels.reset = &reset;
  kernels.update = &update;
  kernels.rnn = &rnn;
  return kernels;
}

}  // namespace HWY_NAMESPACE
}  // namespace driftscope::fast
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "core/engines/strict/simd/dispatch.hpp"

namespace driftscope::fast {

HWY_EXPORT(make_recurrent_kernels);

RecurrentKernels recurrent_kernels(const SimdTarget& target) {
  return simd_function(HWY_DISPATCH_TABLE(make_recurrent_kernels), target.highway)();
}

}  // namespace driftscope::fast
#endif  // HWY_ONCE
