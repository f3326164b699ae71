#include "core/engines/fast/simd/recurrent.hpp"

#include "core/numerics/simd_targets.hpp"

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

// Vectors of units in a group. Two multiply-add units with a latency of four cycles need eight sums;
// with more than that V8 spills. With weights from the second-level cache six are nearly as fast: 37 GFLOP/s
// of 40, vectors of 128 bits on a Xeon.
constexpr std::size_t group_vectors(std::size_t gates) { return gates == 3 ? 2 : 8 / gates; }

// Of one group, vector by vector.
template <std::size_t gates>
struct Sums {
  static constexpr std::size_t count = gates * group_vectors(gates);
  FloatVector v[count];
  HWY_INLINE FloatVector gate(std::size_t g, std::size_t i) const { return v[i * gates + g]; }
};

// The sums of one group, with the contribution of the state.
template <std::size_t gates>
HWY_INLINE void add_product(const RecurrentOperands& operands, std::size_t group, Sums<gates>& sums) {
  constexpr std::size_t count = Sums<gates>::count;
  const FloatTag d;
  const std::size_t at = group * group_vectors(gates) * lanes;
  FloatVector sum[count];
  HWY_UNROLL(8)
  for (std::size_t v = 0; v < count; ++v) {
    // For GRU's candidate the state's part is summed separately.
    const float* from = gates == 3 && v % 3 == 2
                            ? operands.candidate_bias
                            : operands.products + v % gates * static_cast<std::size_t>(operands.units);
    sum[v] = hn::LoadU(d, from + at + v / gates * lanes);
  }
  const float* HWY_RESTRICT state = operands.state;
  const std::int64_t depth = operands.depth;
  const float* HWY_RESTRICT packed =
      operands.packed + group * count * lanes * static_cast<std::size_t>(depth);
  for (std::int64_t k = 0; k < depth; ++k, packed += count * lanes) {
    const FloatVector x = hn::Set(d, state[k]);
    HWY_UNROLL(8)
    for (std::size_t v = 0; v < count; ++v) sum[v] = mul_add(x, hn::Load(d, packed + v * lanes), sum[v]);
  }
  HWY_UNROLL(8)
  for (std::size_t v = 0; v < count; ++v) sums.v[v] = sum[v];
}

// body(sums, i, at): for vector i of each group's units, which are at `at`.
template <std::size_t gates, class Body>
HWY_INLINE void for_each_vector(const RecurrentOperands& operands, std::int64_t begin, std::int64_t end,
                                const Body& body) {
  constexpr std::size_t n = group_vectors(gates);
  for (std::int64_t j = begin; j < end; ++j) {
    const auto group = static_cast<std::size_t>(operands.backwards ? begin + end - 1 - j : j);
    Sums<gates> sums;
    add_product(operands, group, sums);
    for (std::size_t i = 0; i < n; ++i) body(sums, i, (group * n + i) * lanes);
  }
}

// (1 − z)·candidate + z·h.
HWY_INLINE FloatVector blend(const activations::Constants& k, FloatVector z, FloatVector candidate,
                             FloatVector h) {
  const FloatVector rest = hn::Sub(activations::every(k.one), z);
  return mul_add(rest, candidate, hn::Mul(z, h));
}

void lstm(const RecurrentOperands& operands, std::int64_t begin, std::int64_t end) {
  const FloatTag d;
  const activations::Constants& k = activations::constants();
  for_each_vector<4>(operands, begin, end, [&](const Sums<4>& sums, std::size_t i, std::size_t at) {
    const FloatVector in = activations::sigmoid(k, sums.gate(0, i));
    const FloatVector forget = activations::sigmoid(k, sums.gate(2, i));
    const FloatVector candidate = activations::tanh(k, sums.gate(3, i));
    const FloatVector cell = mul_add(forget, hn::LoadU(d, operands.c + at), hn::Mul(in, candidate));
    const FloatVector out = activations::sigmoid(k, sums.gate(1, i));
    hn::StoreU(cell, d, operands.c + at);
    hn::StoreU(hn::Mul(out, activations::tanh(k, cell)), d, operands.out + at);
  });
}

void gru(const RecurrentOperands& operands, std::int64_t begin, std::int64_t end) {
  const FloatTag d;
  const activations::Constants& k = activations::constants();
  for_each_vector<3>(operands, begin, end, [&](const Sums<3>& sums, std::size_t i, std::size_t at) {
    const FloatVector z = activations::sigmoid(k, sums.gate(0, i));
    const FloatVector r = activations::sigmoid(k, sums.gate(1, i));
    const FloatVector x = hn::LoadU(d, operands.products + 2 * operands.units + at);
    const FloatVector candidate = activations::tanh(k, mul_add(r, sums.gate(2, i), x));
    hn::StoreU(blend(k, z, candidate, hn::LoadU(d, operands.h + at)), d, operands.out + at);
  });
}

void reset(const RecurrentOperands& operands, std::int64_t begin, std::int64_t end) {
  const FloatTag d;
  const activations::Constants& k = activations::constants();
  for_each_vector<2>(operands, begin, end, [&](const Sums<2>& sums, std::size_t i, std::size_t at) {
    hn::StoreU(activations::sigmoid(k, sums.gate(0, i)), d, operands.z + at);
    const FloatVector r = activations::sigmoid(k, sums.gate(1, i));
    hn::StoreU(hn::Mul(r, hn::LoadU(d, operands.h + at)), d, operands.out + at);
  });
}

void update(const RecurrentOperands& operands, std::int64_t begin, std::int64_t end) {
  const FloatTag d;
  const activations::Constants& k = activations::constants();
  for_each_vector<1>(operands, begin, end, [&](const Sums<1>& sums, std::size_t i, std::size_t at) {
    const FloatVector candidate = activations::tanh(k, sums.gate(0, i));
    const FloatVector z = hn::LoadU(d, operands.z + at);
    hn::StoreU(blend(k, z, candidate, hn::LoadU(d, operands.h + at)), d, operands.out + at);
  });
}

void rnn(const RecurrentOperands& operands, std::int64_t begin, std::int64_t end) {
  const activations::Constants& k = activations::constants();
  for_each_vector<1>(operands, begin, end, [&](const Sums<1>& sums, std::size_t i, std::size_t at) {
    hn::StoreU(activations::tanh(k, sums.gate(0, i)), FloatTag(), operands.out + at);
  });
}

RecurrentKernels make_recurrent_kernels() {
  RecurrentKernels kernels;
  kernels.lanes = static_cast<std::int64_t>(lanes);
  for (std::size_t gates = 1; gates < kernels.units.size(); ++gates)
    kernels.units[gates] = static_cast<std::int64_t>(group_vectors(gates) * lanes);
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
