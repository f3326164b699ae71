// Compiled for size on the web (cmake/core.cmake).
#include "core/engines/gpu/recurrent_cell.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/graph/attributes.hpp"

namespace driftscope::gpu {
namespace {

RecurrentKind kind_of(Cell cell) {
  switch (cell) {
    case Cell::rnn: return {1, false, {"Tanh"}};
    case Cell::gru: return {3, false, {"Sigmoid", "Tanh"}};
    default: return {4, true, {"Sigmoid", "Tanh", "Tanh"}};
  }
}

std::optional<std::string> text_of(const Activation& f) {
  using Kind = Activation::Kind;
  const std::string alpha = float_text(f.alpha);
  const std::string beta = float_text(f.beta);
  switch (f.kind) {
    case Kind::relu: return "max(x, 0.0)";
    case Kind::tanh: return "tanh_bounded(x)";
    case Kind::sigmoid: return "sigmoid(x)";
    case Kind::softplus: return "softplus(x)";
    case Kind::softsign: return "x / (1.0 + abs(x))";
    case Kind::affine: return fmt::format("{} * x + {}", alpha, beta);
    case Kind::scaled_tanh: return fmt::format("{} * tanh_bounded({} * x)", alpha, beta);
    case Kind::hard_sigmoid: return fmt::format("max(0.0, min(1.0, {} * x + {}))", alpha, beta);
    case Kind::leaky_relu: return fmt::format("max(x, 0.0) + {} * min(x, 0.0)", alpha);
    case Kind::elu: return fmt::format("max(x, 0.0) + {} * (exp(clamp(x, -88.0, 0.0)) - 1.0)", alpha);
    case Kind::thresholded_relu: break;
  }
  return std::nullopt;
}

// Part `number` of a tensor that has `rows` values for each direction.
std::span<const float> of_direction(const Tensor& tensor, std::int64_t direction, std::int64_t size) {
  return tensor.values<float>().subspan(static_cast<std::size_t>(direction * size),
                                        static_cast<std::size_t>(size));
}

}  // namespace

std::vector<CellPass> RecurrentNode::passes() const {
  if (cell == Cell::rnn) return {{{0}, {0}, "value = activation0(limited(p0 + s0));"}};
  if (cell == Cell::gru && before_reset)
    return {{{0, 1, 2},
             {0, 0, 0},
             "a = activation0(limited(p0 + s0)); b = activation0(limited(p1 + s1)); "
             "value = (1.0 - a) * activation1(limited(p2 + b * (s2 + constant0))) + a * state0;"}};
  if (cell == Cell::gru)
    return {{{1}, {0}, "value = activation0(limited(p1 + s0)) * state0;"},
            {{0, 2},
             {0, 1},
             "a = activation0(limited(p0 + s0)); "
             "value = (1.0 - a) * activation1(limited(p2 + s1)) + a * state0;"}};
  // Gates i, o, f and c have the numbers 0 to 3, the peepholes those of i, o and f.
  const auto gate = [&](int number, int sum) {
    const std::string peephole = p == nullptr ? "" : fmt::format(" + constant{} * extra0", number);
    return fmt::format("activation0(limited(p{} + s{}{}))", number, sum, peephole);
  };
  CellPass c{.gates = {0, 3}, .over = {0, 0}, .text = ""};
  if (!coupled) {
    c.gates.push_back(2);
    c.over.push_back(0);
  }
  c.text = fmt::format("a = {}; b = {}; value = b * extra0 + a * activation1(limited(p3 + s1));", gate(0, 0),
                       coupled ? "1.0 - a" : gate(2, 2));
  const char* of_c = attributes.clips_cell ? "limited(extra0)" : "extra0";
  return {std::move(c), {{1}, {0}, fmt::format("value = {} * activation2({});", gate(1, 0), of_c)}};
}

std::optional<std::vector<std::string>> RecurrentNode::activations(std::int64_t direction) const {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < attributes.per_direction; ++i) {
    const auto text = text_of(attributes.activation(direction, i));
    if (!text) return std::nullopt;
    texts.push_back(*text);
  }
  return texts;
}

std::string RecurrentNode::limited() const {
  if (!attributes.clip) return "x";
  return fmt::format("clamp(x, {}, {})", float_text(-*attributes.clip), float_text(*attributes.clip));
}

std::span<const float> RecurrentNode::input_weights(std::int64_t direction) const {
  return of_direction(*w, direction, kind.gates * layout.hidden * layout.inputs);
}

std::span<const float> RecurrentNode::state_weights(std::int64_t direction) const {
  return of_direction(*r, direction, kind.gates * layout.hidden * layout.hidden);
}

std::vector<float> RecurrentNode::bias(std::int64_t direction) const {
  std::vector<float> padded(static_cast<std::size_t>(kind.gates * units()), 0.0f);
  if (b == nullptr) return padded;
  const std::int64_t rows = kind.gates * layout.hidden;
  const auto given = of_direction(*b, direction, 2 * rows);
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t gate = row / layout.hidden;
    const bool apart = before_reset && gate == 2;
    const auto from = static_cast<std::size_t>(row);
    padded[static_cast<std::size_t>(gate * units() + row % layout.hidden)] =
        apart ? given[from] : given[from] + given[from + static_cast<std::size_t>(rows)];
  }
  return padded;
}

std::vector<float> RecurrentNode::constants(std::int64_t direction) const {
  std::vector<float> padded;
  const auto add = [&](std::span<const float> row) {
    padded.insert(padded.end(), row.begin(), row.end());
    padded.resize((padded.size() + 3) / 4 * 4, 0.0f);
  };
  const auto hidden = static_cast<std::size_t>(layout.hidden);
  if (cell == Cell::lstm && p != nullptr)
    for (std::size_t i = 0; i < 3; ++i)
      add(of_direction(*p, direction, 3 * layout.hidden).subspan(i * hidden, hidden));
  if (before_reset && b == nullptr)
    padded.assign(static_cast<std::size_t>(units()), 0.0f);
  else if (before_reset)
    add(of_direction(*b, direction, 6 * layout.hidden).subspan(5 * hidden, hidden));
  return padded;
}

std::optional<RecurrentNode> read_recurrent_node(const GpuLowering& lowering, const Node& node, Cell cell) {
  using namespace recurrent_input;
  RecurrentNode it;
  it.cell = cell;
  it.kind = kind_of(cell);
  auto attributes = read_recurrent(node, it.kind);
  const auto coupled = flag_attribute(node, "input_forget", false);
  const auto linear = int_attribute(node, "linear_before_reset", 0);
  if (!attributes.ok() || !coupled.ok() || !linear.ok() || lowering.has_input(node, sequence_lens))
    return std::nullopt;
  it.attributes = *std::move(attributes);
  it.coupled = cell == Cell::lstm && *coupled;
  it.before_reset = cell == Cell::gru && *linear != 0;

  const auto constant = [&](std::size_t input, const Tensor*& to) {
    if (!lowering.has_input(node, input)) return true;
    to = lowering.constant(node.inputs[input]);
    return to != nullptr && to->dtype() == DType::float32;
  };
  if (!constant(w, it.w) || !constant(r, it.r) || !constant(b, it.b) || !constant(p, it.p))
    return std::nullopt;
  std::vector<ValueId> values = {node.inputs[x]};
  for (const std::size_t state : {initial_h, initial_c})
    if (lowering.has_input(node, state)) values.push_back(node.inputs[state]);
  for (const ValueId output : node.outputs)
    if (output != no_value) values.push_back(output);
  if (!std::ranges::all_of(values, [&](ValueId value) { return lowering.is_float(value); }))
    return std::nullopt;
  it.layout = RecurrentLayout(it.attributes, lowering.shape(node.inputs[x]), it.r->shape());
  if (it.layout.hidden == 0 || it.layout.inputs == 0) return std::nullopt;
  return it;
}

}  // namespace driftscope::gpu
