// Shared by RNN, GRU and LSTM: attributes, shapes, memory layout of their tensors.
// Clients: the shape rules and kernels of these operators, their fast strict kernels. The cells
// themselves are with the operators, the iteration over time in recurrent_run.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/ops/shared/activation.hpp"
#include "core/ops/shared/shape_rules.hpp"

namespace driftscope {

/// Inputs by number, the same for all three.
namespace recurrent_input {
inline constexpr std::size_t x = 0, w = 1, r = 2, b = 3, sequence_lens = 4, initial_h = 5, initial_c = 6,
                             p = 7;
}

/// One operator of the family.
struct RecurrentKind {
  std::int64_t gates = 1;
  bool has_cell_state = false;  ///< initial_c, Y_c, P
  std::vector<std::string> default_activations;
};

/// Not an ONNX attribute: 0 selects the reading of the specification in which LSTM's clip leaves C unclipped.
inline constexpr std::string_view clips_cell_attribute = "driftscope.clips_cell";

/// The attributes, checked.
struct RecurrentAttributes {
  std::int64_t directions = 1;
  bool reverse = false;                 ///< of the first direction; the second is always reversed
  bool batch_first = false;             ///< layout 1
  std::optional<float> clip;            ///< of the inputs of activations
  bool clips_cell = true;               ///< false: C enters h without clipping
  std::vector<Activation> activations;  ///< per direction, one after another
  std::size_t per_direction = 1;        ///< activations

  [[nodiscard]] bool reversed(std::int64_t direction) const { return reverse || direction == 1; }
  [[nodiscard]] const Activation& activation(std::int64_t direction, std::size_t i) const {
    return activations[static_cast<std::size_t>(direction) * per_direction + i];
  }
};
[[nodiscard]] Result<RecurrentAttributes> read_recurrent(const Node& node, const RecurrentKind& kind);

/// Y, Y_h and (with a cell state) Y_c.
[[nodiscard]] Result<std::vector<TensorType>> infer_recurrent(const InferContext& context,
                                                              const RecurrentKind& kind);

/// Sizes, and offsets of whole rows in X, Y and the states.
struct RecurrentLayout {
  std::int64_t steps = 0;
  std::int64_t batch = 0;
  std::int64_t inputs = 0;
  std::int64_t hidden = 0;
  std::int64_t directions = 1;
  bool batch_first = false;

  RecurrentLayout() = default;
  RecurrentLayout(const RecurrentAttributes& attributes, const Shape& x, const Shape& r)
      : steps(x[attributes.batch_first ? 1 : 0]),
        batch(x[attributes.batch_first ? 0 : 1]),
        inputs(x[2]),
        hidden(r[2]),
        directions(attributes.directions),
        batch_first(attributes.batch_first) {}

  [[nodiscard]] std::int64_t x_row(std::int64_t t, std::int64_t b) const {
    return (batch_first ? b * steps + t : t * batch + b) * inputs;
  }
  [[nodiscard]] std::int64_t y_row(std::int64_t t, std::int64_t d, std::int64_t b) const {
    return (batch_first ? (b * steps + t) * directions + d : (t * directions + d) * batch + b) * hidden;
  }
  [[nodiscard]] std::int64_t state_row(std::int64_t d, std::int64_t b) const {
    return (batch_first ? b * directions + d : d * batch + b) * hidden;
  }
};

/// The length of each sequence; all steps where sequence_lens is absent.
[[nodiscard]] Result<std::vector<std::int64_t>> sequence_lengths(const Tensor* lengths,
                                                                 const RecurrentLayout& layout);

}  // namespace driftscope
