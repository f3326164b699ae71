// How far the rounding of each layer can move what a model answers, to first order: its budget, element by
// element, times the gradient of the answer with respect to it. Predicted from the model, the input and an
// engine's error model alone, before that engine runs; afterwards the layers' own errors say how far each has
// moved it. Clients: verify, compare. A difference beyond the prediction is no verdict: it is an estimate.
#pragma once

#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/graph.hpp"
#include "core/numerics/bounded.hpp"
#include "core/runtime/target.hpp"
#include "core/trace/trace_view.hpp"
#include "core/verify/answer_number.hpp"
#include "core/verify/layer_verdict.hpp"
#include "core/verify/verify.hpp"

namespace driftscope {

/// Whether it is computed: where that is cheap, always, or never.
enum class SensitivityWanted { when_cheap, always, never };

/// Multiplications of the model up to which it counts as cheap (multiply_adds). Measured (docs/gradients.md).
inline constexpr double cheap_multiply_adds = 3e8;
/// The same of its constants and values: the gradient is computed in double, and reads all of them.
inline constexpr double cheap_bytes = 256.0 * (1 << 20);

/// What one target's rounding is expected to do, layer by layer.
struct PredictedLayers {
  struct Layer {
    double worst = 0.0;
    double likely = 0.0;
  };
  std::map<std::string, Layer, std::less<>> layers;  ///< by output
  std::int64_t unbounded = 0;                        ///< layers without a finite budget, which are in no sum
  double worst = 0.0;
  double likely = 0.0;  ///< of independent layers
};

class AnswerSensitivity {
 public:
  /// Runs the model and its gradient once, in double, on the inputs of `recorded`, which also has the first
  /// output. Errors say why this model has no sensitivity: an operator without a gradient rule, integers, a
  /// body, more than `cheap_multiply_adds` or `cheap_bytes` unless always; cancelled when `progress` returns
  /// false.
  [[nodiscard]] static Result<AnswerSensitivity> prepare(const Graph& graph, const TraceView& recorded,
                                                         SensitivityWanted wanted, ThreadPool& threads,
                                                         const VerifyProgress& progress = {});

  /// For an engine with this error model, which has not run. Errors: a graph that cannot be evaluated.
  [[nodiscard]] Result<PredictedLayers> predict(const ErrorModel& model, ThreadPool& threads,
                                                const VerifyProgress& progress = {}) const;
  /// The same by a target's name and options; targets of one error model share the work.
  [[nodiscard]] Result<PredictedLayers> predict(const Target& target, ThreadPool& threads,
                                                const VerifyProgress& progress = {}) const;

  /// Σ gradient · (got − reference): how far a layer's own error has moved the answer. NaN where it has no
  /// gradient or an error that is not finite.
  [[nodiscard]] double moved(std::string_view output, std::span<const Bounded> reference,
                             const Tensor& got) const;
  /// 0 where the layer has a gradient: of layers without errors.
  [[nodiscard]] double not_moved(std::string_view output) const;

  /// Puts prediction and what happened into the verification of this target.
  void conclude(const PredictedLayers& predicted, const TraceView& recorded,
                Verification& verification) const;

 private:
  AnswerSensitivity() = default;

  std::shared_ptr<const Graph> graph_;  // bound to the inputs
  AnswerNumber answer_;
  double exact_ = 0.0;
  Trace values_;  // inputs and layers, in double and then rounded to their types
  std::map<std::string, std::vector<double>, std::less<>> slopes_;
};

}  // namespace driftscope
