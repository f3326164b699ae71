// What attention gets wrong: its mask, its scale, which positions it may see.
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/graph/attributes.hpp"
#include "core/verify/variant.hpp"

namespace driftscope::variants::attention {
namespace {

constexpr std::string_view onnx = "Attention";
constexpr std::string_view packed = "com.microsoft.Attention";
constexpr std::string_view multi_head = "com.microsoft.MultiHeadAttention";
constexpr std::string_view grouped = "com.microsoft.GroupQueryAttention";

Node with(const Node& node, Attribute attribute) {
  Node other = node;
  std::erase_if(other.attributes.edit(), [&](const Attribute& one) { return one.name == attribute.name; });
  other.attributes.push_back(std::move(attribute));
  return other;
}

bool is(const LayerCase& layer, std::string_view op) {
  const Node& node = layer.node();
  return (node.domain.empty() ? node.op_type : node.domain + "." + node.op_type) == op;
}

std::vector<Candidate> without_mask(const LayerCase& layer) {
  const std::size_t place = is(layer, multi_head) ? 4 : 3;
  const Node& node = layer.node();
  if (is(layer, grouped) || place >= node.inputs.size() || node.inputs[place] == no_value) return {};
  Node other = node;
  other.inputs[place] = no_value;
  return {{.node = std::move(other)}};
}

std::vector<Candidate> without_bias(const LayerCase& layer) {
  const std::size_t place = 5;
  const Node& node = layer.node();
  if (!(is(layer, multi_head) || is(layer, packed)) || place >= node.inputs.size() ||
      node.inputs[place] == no_value)
    return {};
  Node other = node;
  other.inputs[place] = no_value;
  return {{.node = std::move(other)}};
}

/// The other way: 1 for 0.
std::vector<Candidate> toggled(const LayerCase& layer, std::string_view name) {
  const auto given = int_attribute(layer.node(), name, 0);
  if (!given.ok()) return {};
  return {
      {.node = with(layer.node(), {.name = std::string(name), .value = std::int64_t{*given == 0 ? 1 : 0}}),
       .detail = *given == 0 ? "(causal)" : "(not causal)"}};
}

std::vector<Candidate> causal(const LayerCase& layer) {
  return toggled(layer, is(layer, onnx) ? "is_causal" : "unidirectional");
}

/// Without the scale, and with it twice: sizes of heads that models have.
std::vector<Candidate> other_scale(const LayerCase& layer) {
  std::vector<Candidate> list;
  const auto add = [&](float scale, std::string detail) {
    list.push_back(
        {.node = with(layer.node(), {.name = "scale", .value = scale}), .detail = std::move(detail)});
  };
  add(1.0f, "(none)");
  for (const float size : {8.0f, 16.0f, 32.0f, 40.0f, 48.0f, 64.0f, 80.0f, 96.0f, 128.0f, 256.0f}) {
    add(1.0f / size, fmt::format("(1/{:g})", size));
    add(1.0f / std::sqrt(size), fmt::format("(1/√{:g})", size));
  }
  return list;
}

std::vector<Candidate> without_softcap(const LayerCase& layer) {
  const auto given = float_attribute(layer.node(), "softcap", 0.0f);
  if (!given.ok() || *given == 0.0f) return {};
  return {{.node = with(layer.node(), {.name = "softcap", .value = 0.0f})}};
}

std::vector<Candidate> without_window(const LayerCase& layer) {
  const auto given = int_attribute(layer.node(), "local_window_size", -1);
  if (!given.ok() || *given < 0) return {};
  return {{.node = with(layer.node(), {.name = "local_window_size", .value = std::int64_t{-1}})}};
}

std::vector<Candidate> without_rotation(const LayerCase& layer) {
  const auto given = int_attribute(layer.node(), "do_rotary", 0);
  if (!given.ok() || *given == 0) return {};
  return {{.node = with(layer.node(), {.name = "do_rotary", .value = std::int64_t{0}})}};
}

std::vector<Candidate> other_pairs(const LayerCase& layer) {
  const bool in_attention = is(layer, grouped);
  const std::string name = in_attention ? "rotary_interleaved" : "interleaved";
  const auto given = int_attribute(layer.node(), name, 0);
  if (!given.ok()) return {};
  return {{.node = with(layer.node(), {.name = name, .value = std::int64_t{*given == 0 ? 1 : 0}})}};
}

}  // namespace

void add_to(VariantTable& table) {
  const auto add = [&](std::string_view id, std::string_view name, std::vector<std::string_view> operators,
                       std::function<std::vector<Candidate>(const LayerCase&)> make) {
    table.add({.kind = VariantKind::faulty,
               .family = "attention",
               .id = id,
               .name = name,
               .operators = std::move(operators),
               .order = 10,
               .candidates = std::move(make)});
  };
  add("mask_missing", "the mask left out", {onnx, packed, multi_head}, without_mask);
  add("bias_missing", "the bias of the scores left out", {packed, multi_head}, without_bias);
  add("causality", "another set of positions", {onnx, packed, multi_head}, causal);
  add("scale_other", "another scale of the scores", {onnx, packed, multi_head, grouped}, other_scale);
  add("softcap_missing", "softcap not applied", {onnx, grouped}, without_softcap);
  add("window_missing", "the local window not applied", {grouped}, without_window);
  add("rotation_missing", "the rotary embedding not applied", {grouped}, without_rotation);
  add("rotary_pairs", "the other pairs of rotated elements",
      {grouped, "RotaryEmbedding", "com.microsoft.RotaryEmbedding"}, other_pairs);
}

}  // namespace driftscope::variants::attention
