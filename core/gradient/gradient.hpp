// The gradient of a model as another model: reverse-mode differentiation on the graph, in ONNX operators, so
// that any engine and runtime can run it and verify can judge it. Clients: the command `gradient`, attacks,
// sensitivity. It computes no numbers; the rules of operators are in rules/.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/model/model.hpp"

namespace driftscope {

struct GradientRequest {
  /// "loss": the sum over the batch of the cross-entropy between the model's logits and the additional input
  /// `label` (int64 [N]); a final Softmax is left out. "margin": the sum over the batch of logit `label`
  /// minus logit `other` (int64 [N]), which changes its sign where the answer goes from one to the other.
  /// Else an output of the model, all of whose elements are summed.
  std::string of = "loss";
  /// Float values of the model: inputs, outputs of nodes, initializers. Empty: the input that is floating; if
  /// all are integers (texts), the output of the first Gather that reads one from a table.
  std::vector<std::string> wrt = {};
  /// QuantizeLinear counts as the identity within its range instead of being an error.
  bool straight_through = false;
  /// Also the weights after one step of gradient descent by this rate, as outputs "step/VALUE": VALUE −
  /// rate · grad/VALUE, of every initializer among `wrt`. The loss is a sum: for the mean of N samples,
  /// rate/N.
  std::optional<double> step_rate = {};
  /// Sizes of the inputs, in the order of the graph's. Empty: as the model says, "N" stays open.
  std::vector<Shape> input_shapes = {};
};

struct GradientModel {
  Model model;  ///< the model's inputs and `label` → `loss` (`margin`, `sum/OUTPUT`) and the gradients
  std::string loss;
  std::vector<std::string> wrt;        ///< values, as asked for or chosen
  std::vector<std::string> gradients;  ///< outputs "grad/VALUE", each of its value's shape
  std::vector<std::string> steps;      ///< outputs "step/VALUE", of a request with step_rate
  /// Of "loss" and "margin": what the cross-entropy reads, [N, classes]; "" otherwise.
  std::string logits;
  std::int64_t classes = 0;
};

inline constexpr std::string_view gradient_label = "label";
inline constexpr std::string_view gradient_other = "other";  ///< of "margin"

/// Errors: an operator between the values and the loss without a rule (named with its node), or with a form
/// that its rule does not have; an unknown or integer value; a size that a rule needs and nobody knows; a
/// model that is no classifier of "loss".
[[nodiscard]] Result<GradientModel> make_gradient(const Model& model, const GradientRequest& request);

}  // namespace driftscope
