// Operators that only one model has, attributes that differ, constants that differ.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/base/text.hpp"
#include "core/convert_check/explain_parts.hpp"
#include "core/graph/attributes.hpp"
#include "core/model/tensor_elements.hpp"

namespace driftscope::convert {
namespace {

template <std::size_t Count>
bool one_of(std::string_view op, const std::array<std::string_view, Count>& ops) {
  return std::ranges::find(ops, op) != ops.end();
}

/// Nodes that move values, and those around them that compute shapes.
constexpr std::array<std::string_view, 15> moving = {
    "Transpose", "Reshape", "Identity", "Flatten", "Squeeze", "Unsqueeze",       "Dropout", "CastLike",
    "Expand",    "Shape",   "Gather",   "Concat",  "Slice",   "ConstantOfShape", "Constant"};

/// The node computes nothing: its first input is its output.
std::function<void(Graph&)> as_identity(NodeId id) {
  return [id](Graph& graph) {
    Node& node = graph.nodes[id];
    node.op_type = "Identity";
    node.attributes.clear();
    node.inputs.resize(1);
  };
}

std::string text_of(const Attribute::Value& value) {
  const auto text = [](const auto& one) -> std::string {
    using T = std::decay_t<decltype(one)>;
    if constexpr (std::is_same_v<T, float>)
      return fmt::format("{}", one);
    else if constexpr (std::is_same_v<T, std::int64_t>)
      return std::to_string(one);
    else if constexpr (std::is_same_v<T, std::string>)
      return in_quotes(one);
    else if constexpr (std::is_same_v<T, std::vector<std::int64_t>> || std::is_same_v<T, std::vector<float>>)
      return fmt::format("[{}]", fmt::join(one, ", "));
    else
      return "another";
  };
  return std::visit(text, value);
}

/// Defaults of the specification (opset 7 to 21) that converters write out or leave out.
std::optional<Attribute::Value> default_of(const Node& node, std::string_view name, std::size_t length) {
  using Ints = std::vector<std::int64_t>;
  struct Own {
    std::string_view op;
    std::string_view name;
    float value;
  };
  constexpr auto own = std::to_array<Own>({{"LeakyRelu", "alpha", 0.01f},
                                           {"HardSigmoid", "alpha", 0.2f},
                                           {"HardSigmoid", "beta", 0.5f},
                                           {"LRN", "alpha", 1e-4f},
                                           {"LRN", "beta", 0.75f},
                                           {"LRN", "bias", 1.0f},
                                           {"Selu", "alpha", 1.67326319217681884765625f},
                                           {"Selu", "gamma", 1.05070102214813232421875f}});
  for (const Own& one : own)
    if (one.op == node.op_type && one.name == name) return Attribute::Value(one.value);
  if (name == "axis" &&
      one_of(node.op_type, std::array<std::string_view, 3>{"Softmax", "LogSoftmax", "Hardmax"}))
    return Attribute::Value(std::int64_t{node.opset < 13 ? 1 : -1});
  if (name == "axis" && node.op_type == "Flatten") return Attribute::Value(std::int64_t{1});
  if (name == "axis" &&
      one_of(node.op_type, std::array<std::string_view, 4>{"ArgMax", "ArgMin", "Gather", "Split"}))
    return Attribute::Value(std::int64_t{0});
  if (name == "strides" || name == "dilations") return Ints(length, 1);
  if (name == "pads" || name == "output_padding") return Ints(length, 0);
  if (name == "alpha" || name == "beta" || name == "keepdims")
    return name == "keepdims" ? Attribute::Value(std::int64_t{1}) : Attribute::Value(1.0f);
  if (name == "group") return Attribute::Value(std::int64_t{1});
  for (const std::string_view zero :
       {"transA", "transB", "ceil_mode", "count_include_pad", "noop_with_empty_axes", "storage_order",
        "exclusive", "reverse", "linear_before_reset"})
    if (name == zero) return Attribute::Value(std::int64_t{0});
  if (name == "epsilon") return Attribute::Value(1e-5f);
  if (name == "auto_pad") return Attribute::Value(std::string("NOTSET"));
  if (name == "approximate") return Attribute::Value(std::string("none"));
  if (name == "direction") return Attribute::Value(std::string("forward"));
  return std::nullopt;
}

/// Attributes that say how, not what: these may differ.
bool is_ignored(std::string_view name) {
  constexpr std::array<std::string_view, 6> ignored = {"momentum",  "training_mode", "spatial",
                                                       "allowzero", "saturate",      "kernel_shape"};
  return one_of(name, ignored);
}

bool same_value(const Attribute::Value& a, const Attribute::Value& b) {
  if (a.index() != b.index()) return false;
  const auto same = [&](const auto& one) {
    using T = std::decay_t<decltype(one)>;
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, std::int64_t> ||
                  std::is_same_v<T, std::string> || std::is_same_v<T, std::vector<std::int64_t>> ||
                  std::is_same_v<T, std::vector<float>> || std::is_same_v<T, std::vector<std::string>>)
      return one == std::get<T>(b);
    else
      return true;  // tensors are constants, bodies are not compared
  };
  return std::visit(same, a);
}

std::function<void(Graph&)> with_attribute(NodeId id, std::string name, const Attribute* given) {
  std::optional<Attribute> copy;
  if (given != nullptr) copy = *given;
  return [id, name, copy](Graph& graph) {
    auto& attributes = graph.nodes[id].attributes.edit();
    std::erase_if(attributes, [&](const Attribute& one) { return one.name == name; });
    if (copy) attributes.push_back(*copy);
  };
}

}  // namespace

std::string label(const Node& node) { return fmt::format("{} ({})", in_quotes(node.name), node.op_type); }

Tensor plain_weights(const Node& node, std::size_t input, const Tensor& tensor) {
  if (node.op_type != "Gemm" || input != 1 || tensor.rank() != 2) return tensor;
  const auto transposed = int_attribute(node, "transB", 0);
  if (!transposed.ok() || *transposed == 0) return tensor;
  auto moved = permuted(tensor, {1, 0});
  return moved.ok() ? *moved : tensor;
}

std::function<void(Graph&)> with_constant(NodeId node, std::size_t input, Tensor constant) {
  return [node, input, constant = std::move(constant)](Graph& graph) {
    Value value;
    value.name = fmt::format("{} of {} in B", input, graph.nodes[node].name);
    value.dtype = constant.dtype();
    SymbolicShape shape;
    for (const std::int64_t size : constant.shape()) shape.push_back({size, ""});
    value.shape = std::move(shape);
    value.constant = constant;
    auto& inputs = graph.nodes[node].inputs;
    if (inputs.size() <= input) inputs.resize(input + 1, no_value);
    inputs[input] = static_cast<ValueId>(graph.values.size());
    graph.values.push_back(std::move(value));
  };
}

void find_operators(const Groups& groups, Reasons& reasons) {
  for (const NodeId id : groups.only_a) {
    const Node& node = groups.node_a(id);
    if (one_of(node.op_type, moving) || node.op_type == "Pad") continue;
    reasons.push_back({{0,
                        Cause::operator_missing,
                        node.name,
                        "",
                        fmt::format("{} of A has no counterpart in B between these values", label(node)),
                        {}},
                       as_identity(id)});
  }
  for (const NodeId id : groups.only_b) {
    const Node& node = groups.node_b(id);
    if (one_of(node.op_type, moving) || node.op_type == "Pad") continue;
    Explanation found{0,
                      Cause::operator_added,
                      "",
                      node.name,
                      fmt::format("{} of B has no counterpart in A between these values", label(node)),
                      {}};
    const ValueId made = node.outputs[0];  // may be left out, as by an LSTM
    const DType dtype = made == no_value ? DType::undefined : groups.b.graph()->values[made].dtype;
    if (node.op_type == "Cast" && is_narrow_floating(dtype)) {
      found.cause = Cause::float16;
      found.text = fmt::format("{} of B rounds the values to {}", label(node), dtype_name(dtype));
    } else if (node.op_type == "QuantizeLinear") {
      found.cause = Cause::quantized;
      const auto scale = groups.b.constant(node.inputs[1]);
      found.text = fmt::format(
          "{} of B rounds the values to {}{}", label(node), dtype_name(dtype),
          scale && scale->elements() == 1 ? fmt::format(" in steps of {:.6g}", number_at(*scale, 0)) : "");
    } else if (node.op_type == "DequantizeLinear") {
      continue;  // belongs to the QuantizeLinear before it
    }
    reasons.push_back({std::move(found)});
  }
}

void find_attributes(const Groups& groups, const NodePair& nodes, Reasons& reasons) {
  const Node& a = groups.node_a(nodes.a);
  const Node& b = groups.node_b(nodes.b);
  if (a.op_type != b.op_type) return;
  const bool window = find_window(groups, nodes, reasons);
  std::vector<std::string> names;
  for (const Node* node : {&a, &b})
    for (const Attribute& one : node->attributes)
      if (std::ranges::find(names, one.name) == names.end()) names.push_back(one.name);
  for (const std::string& name : names) {
    if (is_ignored(name) || (a.op_type == "Gemm" && name == "transB")) continue;  // plain_weights
    if (window && (name == "strides" || name == "dilations" || name == "pads" || name == "auto_pad"))
      continue;
    const Attribute* const x = a.attribute(name);
    const Attribute* const y = b.attribute(name);
    const Attribute* const any = x != nullptr ? x : y;
    std::size_t length = 0;
    if (const auto* ints = std::get_if<std::vector<std::int64_t>>(&any->value)) length = ints->size();
    const auto fallback = default_of(x == nullptr ? a : b, name, length);
    if ((x == nullptr || y == nullptr) && !fallback) continue;
    const Attribute::Value& expected = x != nullptr ? x->value : *fallback;
    const Attribute::Value& got = y != nullptr ? y->value : *fallback;
    if (same_value(expected, got)) continue;
    reasons.push_back(
        {{0,
          Cause::attribute,
          a.name,
          b.name,
          fmt::format("{} of {}: expected {}, got {}", name, label(b), text_of(expected), text_of(got)),
          {}},
         with_attribute(nodes.a, name, y)});
  }
}

void find_constants(const Groups& groups, const NodePair& nodes, Reasons& reasons) {
  const Node& a = groups.node_a(nodes.a);
  const Node& b = groups.node_b(nodes.b);
  const bool quantized_op =
      a.op_type != b.op_type && (b.op_type.starts_with("QLinear") || b.op_type.ends_with("Integer"));
  if (quantized_op) {
    reasons.push_back({{0,
                        Cause::quantized,
                        a.name,
                        b.name,
                        fmt::format("{} of B computes with integers where A has {}", label(b), a.op_type),
                        {}}});
    return;
  }
  for (std::size_t i = 0; i < std::max(a.inputs.size(), b.inputs.size()); ++i) {
    const auto x = i < a.inputs.size() ? groups.a.constant(a.inputs[i]) : std::nullopt;
    const auto y = i < b.inputs.size() ? groups.b.constant(b.inputs[i]) : std::nullopt;
    if (!x && !y) continue;
    const bool a_has = i < a.inputs.size() && a.inputs[i] != no_value;
    const bool b_has = i < b.inputs.size() && b.inputs[i] != no_value;
    if (!x || !y) {
      if (a_has && b_has) continue;  // computed on one side
      const std::string name =
          a_has ? groups.a.graph()->value_name(a.inputs[i]) : groups.b.graph()->value_name(b.inputs[i]);
      reasons.push_back({{0,
                          Cause::weights,
                          a.name,
                          b.name,
                          fmt::format("input {} ({}) of {}: {}", i, in_quotes(name), label(a_has ? a : b),
                                      a_has ? "B has none" : "A has none"),
                          {}},
                         a_has ? std::function<void(Graph&)>([id = nodes.a, i](Graph& graph) {
                           graph.nodes[id].inputs[i] = no_value;
                         })
                               : with_constant(nodes.a, i, *y)});
      continue;
    }
    const Tensor mine = plain_weights(a, i, *x);
    const Tensor theirs = plain_weights(b, i, *y);
    const auto difference = compare_constants(mine, theirs);
    if (!difference) continue;
    Reason found{
        {0,
         difference->cause,
         a.name,
         b.name,
         fmt::format("{} of {} (A: {}): {}", in_quotes(groups.b.graph()->value_name(b.inputs[i])), label(b),
                     in_quotes(groups.a.graph()->value_name(a.inputs[i])), difference->text),
         {}}};
    auto substitute = as_dtype(plain_weights(a, i, theirs), x->dtype());  // twice is once back
    if (substitute.ok() && substitute->elements() == x->elements())
      if (auto shaped = substitute->reshaped(x->shape()); shaped.ok())
        found.apply = with_constant(nodes.a, i, *shaped);
    reasons.push_back(std::move(found));
  }
}

}  // namespace driftscope::convert
