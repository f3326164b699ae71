// The mean of a window or a plane, for each scalar. Clients: AveragePool, GlobalAveragePool.
#pragma once

#include <cmath>
#include <cstdint>

#include "core/numerics/math.hpp"
#include "core/numerics/sum.hpp"

namespace driftscope {

/// Adds in the order of the calls and divides by `count`. The bound covers the sum divided by count,
/// multiplied by the rounded 1/count, and the sum of terms that are weighted one by one.
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
  explicit Mean(std::int64_t count) : weight_(Bounded(1.0) / Bounded(static_cast<double>(count))) {}
  void add(Bounded x) {
    sum_.add(x);
    magnitude_ += std::fabs(x.value) + x.worst;
  }
  [[nodiscard]] Bounded result() const {
    Bounded mean = sum_.result() * weight_;
    // Weighted terms are each rounded once; the error of the weight is the same in all.
    const double weighting = current_error_model().unit_roundoff * magnitude_ * weight_.value;
    if (std::isfinite(weighting)) {
      mean.worst += weighting;
      mean.likely += weighting;
    }
    return mean;
  }

 private:
  Bounded weight_;
  Sum<Bounded> sum_;
  double magnitude_ = 0.0;  // Σ|x|
};

}  // namespace driftscope
