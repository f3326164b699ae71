// Which inputs of which operators are weights, and along which axis their output channels lie.
// Client: the modes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/quantize/mode.hpp"
#include "core/quantize/scales.hpp"

namespace driftscope::quantize {

struct WeightUse {
  std::size_t input = 0;
  std::size_t channels = 0;  ///< the axis of the output channels; of an embedding its rows
};

/// The inputs of a node that are constant float32 weights of at least two dimensions.
[[nodiscard]] std::vector<WeightUse> weight_uses(const ModelEdit& edit, const ModelNode& node);

/// Nodes with such weights.
[[nodiscard]] std::vector<std::string> weighted_layers(const ModelEdit& edit);

/// Errors: a weight that is not finite.
[[nodiscard]] Status check_finite(const Tensor& weight, const std::string& node, const std::string& name);

/// Emits nodes that make a weight, from constants that replace it; returns the value that stands for it.
using Compress = std::function<Result<std::string>(ModelEdit& edit, const std::string& name,
                                                   const Tensor& weight, const WeightUse& use)>;

/// Emits other nodes in place of one, and says whether it did.
using Replace = std::function<Result<bool>(ModelEdit& edit, const ModelNode& node)>;

/// Emits every node, or what `replace` makes of it; weights of those that are not kept come from `compress`,
/// each once, however many read it.
[[nodiscard]] Status compress_weights(ModelEdit& edit, const ModeOptions& options, const Compress& compress,
                                      const Replace& replace = {});

/// Emits a DequantizeLinear of these constants.
[[nodiscard]] std::string emit_dequantized(ModelEdit& edit, const std::string& name, Quantized quantized,
                                           Grouping grouping);

/// Blocks of `block` elements along what an output channel sums over: the other axis of a matrix; of more
/// axes the weight is stored as [channels, others], and a Reshape restores its shape.
[[nodiscard]] Result<std::string> emit_blocked(ModelEdit& edit, const std::string& name, const Tensor& weight,
                                               const WeightUse& use, DType dtype, std::int64_t block);

/// Emits a node whose weights are stored as int8 while it computes in float: of an embedding only the rows
/// that are picked are made real. For integer modes, where ONNX has no integer form of an operator.
[[nodiscard]] Status emit_stored(ModelEdit& edit, ModelNode node, const std::vector<WeightUse>& uses,
                                 bool per_channel);
/// Says so of LSTM, GRU and RNN.
void note_stored(const ModelEdit& edit, const ModeOptions& options, std::vector<std::string>& notes);

}  // namespace driftscope::quantize
