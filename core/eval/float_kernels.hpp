// Loops over float32 that an engine hands to the scalar kernel of a node, whose own loops they replace with
// the same bits. Client: attention (core/ops/shared/attention.hpp); the strict engine implements them. They
// know no operator.
#pragma once

#include <cstddef>
#include <cstdint>

namespace driftscope {

/// Element (i, j) at data[i·row_step + j·column_step].
struct FloatMatrix {
  const float* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t row_step = 0;
  std::int64_t column_step = 1;
};

/// Outputs may be the inputs themselves.
class FloatKernels {
 public:
  virtual ~FloatKernels() = default;
  /// C = A · B, row after row: a sum from +0 for each element, k ascending. On all threads.
  virtual void multiply(const FloatMatrix& a, const FloatMatrix& b, float* c) const = 0;
  virtual void mul(const float* x, float s, float* y, std::size_t n) const = 0;
  /// cap · tanh(x / cap).
  virtual void softcap(const float* x, float cap, float* y, std::size_t n) const = 0;
  virtual float largest(const float* x, std::size_t n) const = 0;
  /// e^(x − shift).
  virtual void exp(const float* x, float shift, float* y, std::size_t n) const = 0;
  /// reduce_sum.
  virtual float sum(const float* x, std::size_t n) const = 0;
  virtual void div(const float* x, float s, float* y, std::size_t n) const = 0;
};

/// Hands them to the kernels that this thread runs while it exists.
class FloatKernelsScope {
 public:
  explicit FloatKernelsScope(const FloatKernels& kernels);
  ~FloatKernelsScope();
  FloatKernelsScope(const FloatKernelsScope&) = delete;
  FloatKernelsScope& operator=(const FloatKernelsScope&) = delete;

 private:
  const FloatKernels* outer_;
};

/// Null where there are none.
[[nodiscard]] const FloatKernels* current_float_kernels();

}  // namespace driftscope
