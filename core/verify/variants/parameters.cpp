// Inputs that a runtime leaves out, applies twice or takes for one another.
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/graph/attributes.hpp"
#include "core/model/tensor_elements.hpp"
#include "core/verify/variant.hpp"

namespace driftscope::variants::parameters {
namespace {

/// Without input `place`, where the operator allows it.
template <std::size_t place>
std::vector<Candidate> without(const LayerCase& layer) {
  const Node& node = layer.node();
  if (place >= node.inputs.size() || node.inputs[place] == no_value) return {};
  Node other = node;
  other.inputs[place] = no_value;
  return {{.node = std::move(other)}};
}

std::optional<Tensor> filled(const Tensor& like, float value) {
  Evaluated<float> made{like.dtype(), like.shape(), {}, {}};
  made.real.assign(static_cast<std::size_t>(like.elements()), value);
  auto tensor = lower(made);
  return tensor.ok() ? std::optional(*std::move(tensor)) : std::nullopt;
}

/// Input `place` of one number everywhere.
template <std::size_t place, int value>
std::vector<Candidate> as_number(const LayerCase& layer) {
  const Node& node = layer.node();
  if (place >= node.inputs.size() || node.inputs[place] == no_value) return {};
  const auto make = [&layer, id = node.inputs[place]]() -> std::optional<Tensor> {
    const auto tensor = layer.derivation.known_value(id);
    if (!tensor || !is_floating(tensor->dtype())) return std::nullopt;
    return filled(*tensor, static_cast<float>(value));
  };
  return {{.inputs = {{place, make}}}};
}

/// The first elements in another shape.
std::optional<Tensor> first_elements(const Tensor& tensor, const Shape& shape) {
  auto made = Tensor::make(tensor.dtype(), shape);
  if (!made.ok() || made->byte_size() > tensor.byte_size()) return std::nullopt;
  std::copy_n(tensor.bytes().data(), made->byte_size(), made->mutable_bytes().data());
  return *std::move(made);
}

/// Which input the bias is, and whether it may be omitted, depends on the operator.
std::vector<Candidate> without_bias(const LayerCase& layer) {
  const std::string& op = layer.node().op_type;
  if (op == "MatMulNBits") return without<5>(layer);
  if (op == "LSTM" || op == "GRU" || op == "RNN") return without<3>(layer);
  if (op == "BatchNormalization" || op == "InstanceNormalization" || op == "GroupNormalization")
    return as_number<2, 0>(layer);
  return without<2>(layer);
}

/// Input `place` twice as large.
template <std::size_t place>
std::vector<Candidate> twice(const LayerCase& layer) {
  const Node& node = layer.node();
  if (place >= node.inputs.size() || node.inputs[place] == no_value) return {};
  const auto make = [&layer, id = node.inputs[place]]() -> std::optional<Tensor> {
    const auto tensor = layer.derivation.known_value(id);
    if (!tensor || !is_floating(tensor->dtype())) return std::nullopt;
    auto made = lift<float>(*tensor);
    if (!made.ok()) return std::nullopt;
    for (float& x : made->real) x *= 2.0f;
    auto doubled = lower(*made);
    if (!doubled.ok()) return std::nullopt;
    return *std::move(doubled);
  };
  return {{.inputs = {{place, make}}}};
}

/// One number per channel, applied along another axis of the same size.
std::vector<Candidate> other_axis(const LayerCase& layer) {
  std::vector<Candidate> list;
  const Node& node = layer.node();
  const Shape& full = layer.got.shape();
  for (std::size_t place = 0; place < node.inputs.size(); ++place) {
    if (node.inputs[place] == no_value) continue;
    const auto shape = layer.derivation.known_shape(node.inputs[place]);
    if (!shape || shape->size() > full.size()) continue;
    const std::int64_t count = element_count(*shape);
    if (count < 2 || std::ranges::count_if(*shape, [](auto n) { return n != 1; }) != 1) continue;
    const std::size_t from = full.size() - shape->size() +
                             static_cast<std::size_t>(std::ranges::find(*shape, count) - shape->begin());
    for (std::size_t axis = 0; axis < full.size(); ++axis) {
      // A longer axis is indexed by the first of its elements.
      if (axis == from || full[axis] > count) continue;
      Shape other(full.size(), 1);
      other[axis] = full[axis];
      list.push_back(
          {.inputs = {{place,
                       [&layer, id = node.inputs[place], other]() -> std::optional<Tensor> {
                         const auto tensor = layer.derivation.known_value(id);
                         return tensor ? first_elements(*tensor, other) : std::nullopt;
                       }}},
           .detail = fmt::format("({} along axis {})", layer.graph.values[node.inputs[place]].name, axis)});
    }
  }
  return list;
}

/// Inputs 0 and 1 in the place of one another.
std::vector<Candidate> swapped(const LayerCase& layer) {
  const Node& node = layer.node();
  if (node.inputs.size() != 2 || node.inputs[0] == no_value || node.inputs[1] == no_value) return {};
  const auto value = [&layer](ValueId id) {
    return [&layer, id] { return layer.derivation.known_value(id); };
  };
  return {{.inputs = {{0, value(node.inputs[1])}, {1, value(node.inputs[0])}}}};
}

/// Blocks along axis 1 of an LSTM's or GRU's weights in another order.
std::optional<Tensor> gates_permuted(const Tensor& tensor, const std::vector<std::int64_t>& order) {
  const auto gates = static_cast<std::int64_t>(order.size());
  const Shape& shape = tensor.shape();
  if (shape.size() < 2 || shape[1] % gates != 0 || bits_per_element(tensor.dtype()) < 8) return std::nullopt;
  auto made = Tensor::make(tensor.dtype(), shape);
  if (!made.ok()) return std::nullopt;
  // B holds the biases of W, then those of R.
  const std::int64_t parts = shape.size() == 2 ? 2 : 1;
  const std::int64_t rows = shape[1] / gates / parts;
  const auto row_bytes = tensor.byte_size() / static_cast<std::size_t>(shape[0] * shape[1]);
  const std::size_t block = static_cast<std::size_t>(rows) * row_bytes;
  for (std::int64_t part = 0; part < shape[0] * parts; ++part)
    for (std::int64_t gate = 0; gate < gates; ++gate) {
      const auto to = static_cast<std::size_t>(part * gates + gate) * block;
      const auto from =
          static_cast<std::size_t>(part * gates + order[static_cast<std::size_t>(gate)]) * block;
      std::copy_n(tensor.bytes().data() + from, block, made->mutable_bytes().data() + to);
    }
  return *std::move(made);
}

std::vector<Candidate> other_gates(const LayerCase& layer) {
  const Node& node = layer.node();
  std::vector<std::int64_t> order = {0, 1, 2};
  if (node.op_type == "LSTM") order.push_back(3);
  std::vector<Candidate> list;
  while (std::ranges::next_permutation(order).found) {
    Candidate candidate{
        .detail = node.op_type == "LSTM"
                      ? fmt::format("({}{}{}{} for iofc)", "iofc"[order[0]], "iofc"[order[1]],
                                    "iofc"[order[2]], "iofc"[order[3]])
                      : fmt::format("({}{}{} for zrh)", "zrh"[order[0]], "zrh"[order[1]], "zrh"[order[2]])};
    for (std::size_t i = 1; i < std::min<std::size_t>(4, node.inputs.size()); ++i) {
      if (node.inputs[i] == no_value) continue;
      candidate.inputs.push_back({i, [&layer, id = node.inputs[i], order]() -> std::optional<Tensor> {
                                    const auto tensor = layer.derivation.known_value(id);
                                    return tensor ? gates_permuted(*tensor, order) : std::nullopt;
                                  }});
    }
    list.push_back(std::move(candidate));
  }
  return list;
}

}  // namespace

void add_to(VariantTable& table) {
  const auto add = [&](std::string_view id, std::string_view name, std::vector<std::string_view> operators,
                       std::function<std::vector<Candidate>(const LayerCase&)> candidates, int order = 10) {
    table.add({.kind = VariantKind::faulty,
               .family = "parameter",
               .id = id,
               .name = name,
               .operators = std::move(operators),
               .order = order,
               .candidates = std::move(candidates)});
  };
  add("bias_missing", "the bias left out",
      {"Conv", "ConvTranspose", "Gemm", "LayerNormalization", "com.microsoft.FusedConv", "BatchNormalization",
       "InstanceNormalization", "GroupNormalization", "LSTM", "GRU", "RNN", "com.microsoft.MatMulNBits"},
      without_bias, 5);
  add("bias_twice", "the bias added twice", {"Conv", "ConvTranspose", "Gemm", "LayerNormalization"},
      twice<2>);
  add("scale_missing", "the scale left out",
      {"BatchNormalization", "InstanceNormalization", "GroupNormalization", "LayerNormalization",
       "RMSNormalization"},
      as_number<1, 1>);
  add("mean_not_subtracted", "the mean not subtracted", {"BatchNormalization"}, as_number<3, 0>);
  add("variance_ignored", "the variance taken as 1", {"BatchNormalization"}, as_number<4, 1>);
  add("initial_state_missing", "the initial state left out", {"LSTM", "GRU", "RNN"}, without<5>);
  add("initial_cell_missing", "the initial cell state left out", {"LSTM"}, without<6>);
  add("peephole_missing", "the peepholes left out", {"LSTM"}, without<7>);
  add("lengths_ignored", "the lengths of sequences ignored", {"LSTM", "GRU", "RNN"}, without<4>);
  add("gates_order", "its gates in another order", {"LSTM", "GRU"}, other_gates, 15);
  add("pad_value_missing", "the padding value left out", {"Pad"}, without<2>);
  add("zero_point_missing", "the zero point left out", {"DequantizeLinear"}, without<2>);
  add("wrong_axis", "one number per channel along another axis", {"Add", "Sub", "Mul", "Div", "PRelu"},
      other_axis, 12);
  add("operand_swapped", "its operands exchanged", {"Sub", "Div", "Pow", "MatMul", "Gemm", "PRelu", "Mod"},
      swapped);
}

}  // namespace driftscope::variants::parameters
