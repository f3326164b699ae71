// How much of what rounding does to the answer each layer is responsible for, before or after a run: a
// layer's error, element by element, times the gradient of the answer with respect to its output. To first
// order: the errors are small. Clients: those that predict or explain drift; nothing here runs a model.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/graph/graph.hpp"

namespace driftscope {

/// What a layer's output may be off by, or is: one number for each element.
struct LayerError {
  std::string value;  ///< the output's name
  std::vector<double> error;
};

struct LayerSensitivity {
  std::string value;
  double gradient_norm = 0.0;  ///< Euclidean, of the answer with respect to the output
  double largest = 0.0;        ///< Σ |gradient|·|error|: no rounding moves the answer further
  double likely = 0.0;         ///< √Σ gradient²·error²: of independent errors
  double moved = 0.0;          ///< Σ gradient·error: where the error is a difference that was seen
  double share = 0.0;          ///< of the sum of `likely`² over the layers
};

/// The values whose gradients sensitivity needs, of a graph with types (infer_shapes): first outputs of
/// nodes that are floating, not constant, and needed for the outputs; at most `limit`, evenly chosen.
[[nodiscard]] std::vector<std::string> sensitive_values(const Graph& graph, std::size_t limit = 512);

/// By layer, in the order of `errors`. `gradient_of`: a value's gradient, as the graph of make_gradient gives
/// it; null: it is not known, which is an error, as is another size than that of the layer's error, or a
/// number that is not finite.
[[nodiscard]] Result<std::vector<LayerSensitivity>> layer_sensitivity(
    std::span<const LayerError> errors,
    const std::function<const Tensor*(const std::string& value)>& gradient_of);

/// How far all layers together can move the answer, from independent errors and at most.
struct PredictedMove {
  double likely = 0.0;
  double largest = 0.0;
};
[[nodiscard]] PredictedMove predicted_move(std::span<const LayerSensitivity> layers);

}  // namespace driftscope
