// The rounding behaviour allowed to the engine that made a trace: the rows behind every budget. Clients:
// verify, which chooses the model by the engine and hands it to derivation and judges; Bounded and kernels,
// whose arithmetic reads the model of the scope that evaluate opens. It gives no verdicts.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>

#include "core/model/dtype.hpp"

namespace driftscope {

/// How accurate an implementation of a function is: |got − f(x)| ≤ ulp·ULP(f(x)) + absolute,
/// with ulp growing by ulp_per_x·|x| (WGSL's exp).
struct FunctionAccuracy {
  double ulp = 4.0;
  double ulp_per_x = 0.0;
  double absolute = 0x1p-126;  ///< results below the smallest normal may be flushed
  /// Nothing is guaranteed for larger |x| (sin beyond π); negative: for no x at all.
  double reach = std::numeric_limits<double>::infinity();
};

/// Whether intermediate results of a computation may exceed the range of their type although the result does
/// not.
enum class Overflow {
  none,
  possible,  ///< in some order of a sum, or if a narrow type is not computed in float32
  certain,   ///< an operand does: even a finite result may come from an infinity (a/∞ = 0)
};

/// Records the worst case of a computation; from any thread.
class OverflowNote {
 public:
  void raise(Overflow level) {
    if (level_.load(std::memory_order_relaxed) < level) level_.store(level, std::memory_order_relaxed);
  }
  [[nodiscard]] Overflow level() const { return level_.load(std::memory_order_relaxed); }

 private:
  std::atomic<Overflow> level_ = Overflow::none;
};

/// Defaults: an IEEE float32 CPU engine; such runtimes promise nothing for functions (docs/design.md): 4 ULP.
struct ErrorModel {
  double unit_roundoff = 0x1p-24;   ///< of + − × ÷ √, relative to the result
  double absolute = 0x1p-150;       ///< of + − × ÷ √ near zero: half the smallest subnormal
  bool rounds_to_nearest = true;    ///< then one operation is within half an ULP
  double ulp = 0x1p-23;             ///< spacing of the stored format at 1: the unit of FunctionAccuracy
  double largest = 0x1.fffffep127;  ///< of the stored format; beyond it a result may be infinite
  double widest = 0x1.fffffep127;   ///< of the format that intermediate results may be kept in
  bool flushes_subnormals = false;  ///< may read and write subnormal numbers as 0
  bool keeps_specials = true;       ///< infinity and NaN behave as IEEE 754 says
  /// float16 and bfloat16 values are rounded only when recorded; later nodes read them in float32.
  bool records_rounded = false;
  double division_ulp = 0.5;  ///< of ÷ and √ where they are not rounded to nearest
  double sqrt_ulp = 0.5;
  FunctionAccuracy exp;
  FunctionAccuracy log;
  FunctionAccuracy tanh;
  FunctionAccuracy sigmoid;
  FunctionAccuracy hyperbolic;  ///< sinh, cosh and their inverses, atanh
  FunctionAccuracy sin;         ///< and cos
  FunctionAccuracy tan;
  FunctionAccuracy asin;  ///< and acos
  FunctionAccuracy atan;
  FunctionAccuracy erf;
  FunctionAccuracy gelu_erf;  ///< inside Gelu, where runtimes use fast approximations
  FunctionAccuracy pow;
  double rnn_absolute = 0.0;  ///< of an activation inside RNN (not of GRU or LSTM), in addition
  double log_absolute = 0.0;  ///< of log in [0.5, 2], instead of its ULP where those are smaller
  /// sinh, cosh, tan, pow and the inverse hyperbolic functions are computed from exp, log, √, sin and cos by
  /// the textbook formula, errors included (WGSL: "inherited from").
  bool derives_functions = false;
  /// DequantizeLinear is (x − lowest)·scale + (lowest − zero point)·scale, lowest of 8 bits: this cancels.
  bool dequantizes_in_two_terms = false;
  /// Elements of the tensor being computed: the statistical bound holds for all of them at once.
  std::int64_t elements = 1;
  OverflowNote* overflow = nullptr;  ///< where to note that an intermediate result may overflow

  void note_overflow(Overflow level) const {
    if (overflow != nullptr) overflow->raise(level);
  }

  /// λ for n-term sums: chosen so that the chance that any of `elements` sums passes
  /// λ·√n·u·Σ|aᵢbᵢ| is below 10⁻⁹: λ = √(2·ln(2·n·elements/10⁻⁹)).
  [[nodiscard]] double lambda(std::int64_t terms) const;
};

/// The same engine with tensors of another floating type: float16 and bfloat16 with their own
/// unit roundoff. For float64 the reference itself is no more exact than the engine, so the budget
/// covers the roundings of both.
[[nodiscard]] ErrorModel error_model_for(const ErrorModel& model, DType dtype);

/// The model that Bounded uses on this thread.
[[nodiscard]] const ErrorModel& current_error_model();

/// Sets it for a scope, on this thread. Kernels that run on other threads open a scope there
/// (KernelContext::parallel_for does).
class ErrorModelScope {
 public:
  explicit ErrorModelScope(const ErrorModel& model);
  ~ErrorModelScope();
  ErrorModelScope(const ErrorModelScope&) = delete;
  ErrorModelScope& operator=(const ErrorModelScope&) = delete;

 private:
  const ErrorModel model_;
  const ErrorModel* previous_;
};

}  // namespace driftscope
