// Attributes that a runtime ignores, takes as their default or reads in another convention. A row is an
// attribute with the values that others give it; those that equal the node's own are left out.
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <variant>

#include "core/eval/evaluate.hpp"
#include "core/graph/attributes.hpp"
#include "core/verify/variant.hpp"

namespace driftscope::variants::attributes {
namespace {

using Value = std::variant<std::int64_t, float, std::string_view>;

struct Row {
  std::string_view id;
  std::string_view name;
  std::string_view attribute;
  Value usual;  ///< where the node does not say
  std::vector<Value> others;
  std::vector<std::string_view> operators;
};

const std::vector<Row>& rows() {
  static const std::vector<Row> list = {
      {"epsilon_other",
       "another epsilon",
       "epsilon",
       1e-5f,
       {0.0f, 1e-3f, 1e-5f, 1e-6f, 1e-7f, 1e-12f},
       {"BatchNormalization", "GroupNormalization", "InstanceNormalization", "LayerNormalization",
        "RMSNormalization", "com.microsoft.SkipLayerNormalization", "SimplifiedLayerNormalization",
        "com.microsoft.SkipSimplifiedLayerNormalization"}},
      {"alpha_ignored", "alpha not applied", "alpha", 1.0f, {1.0f}, {"Gemm", "Elu", "Celu"}},
      {"alpha_other", "the usual alpha", "alpha", 0.01f, {0.01f, 0.2f, 0.3f, 0.1f}, {"LeakyRelu"}},
      {"slope_other", "another slope", "alpha", 0.2f, {0.2f, 1.0f / 6.0f}, {"HardSigmoid"}},
      {"beta_ignored", "beta not applied", "beta", 1.0f, {1.0f}, {"Gemm"}},
      {"count_include_pad",
       "count_include_pad the other way",
       "count_include_pad",
       std::int64_t{0},
       {std::int64_t{0}, std::int64_t{1}},
       {"AveragePool", "LpPool"}},
      {"axis_shifted",
       "another axis",
       "axis",
       std::int64_t{-1},
       {std::int64_t{0}, std::int64_t{1}, std::int64_t{2}, std::int64_t{3}, std::int64_t{-1},
        std::int64_t{-2}},
       {"Softmax", "LogSoftmax", "Hardmax", "LpNormalization"}},
      {"align_corners",
       "align_corners the other way",
       "align_corners",
       std::int64_t{0},
       {std::int64_t{0}, std::int64_t{1}},
       {"GridSample"}},
      {"half_pixel",
       "another coordinate_transformation_mode",
       "coordinate_transformation_mode",
       std::string_view("half_pixel"),
       {std::string_view("half_pixel"), std::string_view("asymmetric"), std::string_view("align_corners"),
        std::string_view("pytorch_half_pixel"), std::string_view("half_pixel_symmetric")},
       {"Resize"}},
      {"nearest_mode",
       "another nearest_mode",
       "nearest_mode",
       std::string_view("round_prefer_floor"),
       {std::string_view("round_prefer_floor"), std::string_view("round_prefer_ceil"),
        std::string_view("floor"), std::string_view("ceil")},
       {"Resize"}},
      {"cubic_coefficients",
       "other cubic coefficients",
       "cubic_coeff_a",
       -0.75f,
       {-0.75f, -0.5f},
       {"Resize"}},
      {"exclude_outside",
       "exclude_outside the other way",
       "exclude_outside",
       std::int64_t{0},
       {std::int64_t{0}, std::int64_t{1}},
       {"Resize"}},
      {"antialias", "antialias ignored", "antialias", std::int64_t{0}, {std::int64_t{0}}, {"Resize"}},
      {"resize_mode",
       "another mode",
       "mode",
       std::string_view("nearest"),
       {std::string_view("nearest"), std::string_view("linear"), std::string_view("cubic")},
       {"Resize"}},
      {"depth_order",
       "the other order of channels",
       "mode",
       std::string_view("DCR"),
       {std::string_view("DCR"), std::string_view("CRD")},
       {"DepthToSpace"}},
      {"exclusive_ignored",
       "exclusive the other way",
       "exclusive",
       std::int64_t{0},
       {std::int64_t{0}, std::int64_t{1}},
       {"CumSum", "CumProd"}},
      {"direction_reversed",
       "reverse the other way",
       "reverse",
       std::int64_t{0},
       {std::int64_t{0}, std::int64_t{1}},
       {"CumSum", "CumProd"}},
      {"recurrence_reversed",
       "the other direction",
       "direction",
       std::string_view("forward"),
       {std::string_view("forward"), std::string_view("reverse")},
       {"LSTM", "GRU", "RNN"}},
      {"linear_before_reset",
       "linear_before_reset the other way",
       "linear_before_reset",
       std::int64_t{0},
       {std::int64_t{0}, std::int64_t{1}},
       {"GRU"}},
      {"gelu_form",
       "the other form",
       "approximate",
       std::string_view("none"),
       {std::string_view("none"), std::string_view("tanh")},
       {"Gelu"}},
      {"pad_mode",
       "another mode",
       "mode",
       std::string_view("constant"),
       {std::string_view("constant"), std::string_view("edge"), std::string_view("reflect"),
        std::string_view("wrap")},
       {"Pad"}},
      {"norm_order",
       "another norm",
       "p",
       std::int64_t{2},
       {std::int64_t{1}, std::int64_t{2}},
       {"LpNormalization", "LpPool"}},
      {"auto_pad_swapped",
       "SAME_UPPER and SAME_LOWER exchanged",
       "auto_pad",
       std::string_view("NOTSET"),
       {std::string_view("SAME_UPPER"), std::string_view("SAME_LOWER")},
       {"Conv", "ConvTranspose", "MaxPool", "AveragePool", "LpPool"}},
  };
  return list;
}

bool is(const Attribute* given, const Row& row, const Value& value) {
  if (given == nullptr) return row.usual == value;
  if (const auto* number = std::get_if<std::int64_t>(&given->value)) return value == Value(*number);
  if (const auto* number = std::get_if<float>(&given->value)) return value == Value(*number);
  if (const auto* text = std::get_if<std::string>(&given->value))
    return value == Value(std::string_view(*text));
  return true;
}

Attribute made(std::string_view name, const Value& value) {
  Attribute attribute{.name = std::string(name), .value = {}};
  if (const auto* number = std::get_if<std::int64_t>(&value)) attribute.value = *number;
  if (const auto* number = std::get_if<float>(&value)) attribute.value = *number;
  if (const auto* text = std::get_if<std::string_view>(&value)) attribute.value = std::string(*text);
  return attribute;
}

std::string text_of(const Value& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) return std::to_string(*number);
  if (const auto* number = std::get_if<float>(&value)) return fmt::format("{:g}", *number);
  return std::string(std::get<std::string_view>(value));
}

Node with(const Node& node, Attribute attribute) {
  Node other = node;
  std::erase_if(other.attributes.edit(), [&](const Attribute& one) { return one.name == attribute.name; });
  other.attributes.push_back(std::move(attribute));
  return other;
}

std::vector<Candidate> candidates_of(const Row& row, const LayerCase& layer) {
  std::vector<Candidate> list;
  const Attribute* const given = layer.node().attribute(row.attribute);
  // Nodes without automatic padding have none to exchange.
  if (row.attribute == "auto_pad" && (given == nullptr || is(given, row, row.usual))) return list;
  for (const Value& value : row.others)
    if (!is(given, row, value))
      list.push_back({.node = with(layer.node(), made(row.attribute, value)),
                      .detail = fmt::format("({} {})", row.attribute, text_of(value))});
  return list;
}

Ints reversed_ends(const Ints& pads) {
  Ints other(pads.begin() + static_cast<std::ptrdiff_t>(pads.size() / 2), pads.end());
  other.insert(other.end(), pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(pads.size() / 2));
  return other;
}

/// The padding of the other side, and that of the other axis.
std::vector<Candidate> other_pads(const LayerCase& layer) {
  std::vector<Candidate> list;
  const auto pads = ints_attribute(layer.node(), "pads", {});
  if (!pads.ok() || pads->size() % 2 != 0) return list;
  std::vector<Ints> others = {reversed_ends(*pads)};
  if (pads->size() == 4) others.push_back({(*pads)[1], (*pads)[0], (*pads)[3], (*pads)[2]});
  if (pads->size() == 4) others.push_back(reversed_ends(others.back()));
  for (Ints& other : others)
    if (other != *pads)
      list.push_back({.node = with(layer.node(), {.name = "pads", .value = std::move(other)})});
  return list;
}

/// A maximum over zeros where the padding is: a window of an input that was padded before.
std::vector<Candidate> padding_as_zeros(const LayerCase& layer) {
  const auto pads = ints_attribute(layer.node(), "pads", {});
  if (!pads.ok() || pads->empty() || std::ranges::all_of(*pads, [](auto p) { return p == 0; })) return {};
  const auto make = [&layer, pads = *pads]() -> std::optional<Tensor> {
    const auto x = layer.derivation.known_value(layer.node().inputs[0]);
    if (!x || x->shape().size() * 2 != pads.size() + 4) return std::nullopt;
    Ints all(x->shape().size() * 2);  // of the batch and the channels: none
    std::ranges::copy(std::span(pads).first(pads.size() / 2), all.begin() + 2);
    std::ranges::copy(std::span(pads).last(pads.size() / 2),
                      all.begin() + static_cast<std::ptrdiff_t>(x->shape().size()) + 2);
    auto amounts = Tensor::make(DType::int64, {static_cast<std::int64_t>(all.size())});
    if (!amounts.ok()) return std::nullopt;
    std::ranges::copy(all, amounts->mutable_values<std::int64_t>().begin());
    Node pad;
    pad.op_type = "Pad";
    pad.opset = 21;
    pad.inputs = {0, 1};
    pad.outputs = {2};
    const Tensor* const given[] = {&*x, &*amounts};
    auto made = evaluate_strict(pad, given, layer.threads);
    if (!made.ok() || made->empty()) return std::nullopt;
    return std::move(made->front());
  };
  return {
      {.node = with(layer.node(), {.name = "pads", .value = Ints(pads->size(), 0)}), .inputs = {{0, make}}}};
}

/// Windows without gaps, of the same output size.
std::vector<Candidate> no_dilation(const LayerCase& layer) {
  const Node& node = layer.node();
  const auto dilations = ints_attribute(node, "dilations", {});
  const auto w = node.inputs.size() > 1 ? layer.derivation.known_shape(node.inputs[1]) : std::nullopt;
  if (!dilations.ok() || dilations->empty() || std::ranges::all_of(*dilations, [](auto d) { return d == 1; }))
    return {};
  Ints kernel;
  if (node.op_type == "Conv" && w && w->size() == dilations->size() + 2)
    kernel.assign(w->begin() + 2, w->end());
  else if (const auto shape = ints_attribute(node, "kernel_shape", {}); shape.ok())
    kernel = *shape;
  const auto pads = ints_attribute(node, "pads", Ints(2 * dilations->size(), 0));
  if (kernel.size() != dilations->size() || !pads.ok() || pads->size() != 2 * kernel.size()) return {};
  Ints other = *pads;
  for (std::size_t i = 0; i < kernel.size(); ++i) {
    const std::int64_t less = ((*dilations)[i] - 1) * (kernel[i] - 1);
    other[i] -= less / 2;
    other[i + kernel.size()] -= less - less / 2;
    if (other[i] < 0 || other[i + kernel.size()] < 0) return {};
  }
  Node changed = with(node, {.name = "dilations", .value = Ints(kernel.size(), 1)});
  return {{.node = with(changed, {.name = "pads", .value = std::move(other)})}};
}

/// The inverse of the permutation, and the usual one.
std::vector<Candidate> other_permutation(const LayerCase& layer) {
  const auto perm = ints_attribute(layer.node(), "perm", {});
  if (!perm.ok() || perm->empty()) return {};
  Ints inverse(perm->size());
  for (std::size_t i = 0; i < perm->size(); ++i) {
    if ((*perm)[i] < 0 || (*perm)[i] >= static_cast<std::int64_t>(perm->size())) return {};
    inverse[static_cast<std::size_t>((*perm)[i])] = static_cast<std::int64_t>(i);
  }
  if (inverse == *perm) return {};
  return {{.node = with(layer.node(), {.name = "perm", .value = std::move(inverse)})}};
}

}  // namespace

void add_to(VariantTable& table) {
  const auto add = [&](std::string_view id, std::string_view name, std::vector<std::string_view> operators,
                       std::function<std::vector<Candidate>(const LayerCase&)> candidates) {
    table.add({.kind = VariantKind::faulty,
               .family = "attribute",
               .id = id,
               .name = name,
               .operators = std::move(operators),
               .order = 10,
               .candidates = std::move(candidates)});
  };
  for (const Row& row : rows())
    add(row.id, row.name, row.operators,
        [&row](const LayerCase& layer) { return candidates_of(row, layer); });
  add("pads_other_side", "the padding of another side",
      {"Conv", "ConvTranspose", "MaxPool", "AveragePool", "LpPool", "com.microsoft.FusedConv"}, other_pads);
  add("padding_as_zeros", "the padding taken as zeros", {"MaxPool"}, padding_as_zeros);
  add("dilation_ignored", "dilations ignored", {"Conv", "MaxPool", "AveragePool"}, no_dilation);
  add("perm_inverse", "the inverse permutation", {"Transpose"}, other_permutation);
}

}  // namespace driftscope::variants::attributes
