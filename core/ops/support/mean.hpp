// The mean of a window or a plane, for each scalar. Clients: AveragePool, GlobalAveragePool.
#pragma once

#include <cstdint>
#include <type_traits>

#include "core/ops/support/math.hpp"
#include "core/ops/support/sum.hpp"

namespace driftscope {

/// Adds in the order of the calls and divides by `count`. For Bounded a dot product with the rounded
/// weight 1/count: that bound covers the sum divided, multiplied by 1/count, and weighted terms.
template <class S>
class Mean {
 public:
  explicit Mean(std::int64_t count) : count_(math::exact<S>(static_cast<double>(count))) {}
  void add(S x) { sum_.add(x); }
  [[nodiscard]] S result() const { return sum_.result() / count_; }

 private:
  S count_;
  Sum<S> sum_;
};

template <>
class Mean<Bounded> {
 public:
  explicit Mean(std::int64_t count)
      : weight_(Bounded(1.0) / Bounded(static_cast<double>(count))) {}
  void add(Bounded x) { sum_.add_product(x, weight_); }
  [[nodiscard]] Bounded result() const { return sum_.result(); }

 private:
  Bounded weight_;
  Sum<Bounded> sum_;
};

}  // namespace driftscope
