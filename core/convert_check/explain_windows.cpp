// Strides, dilations and pads of convolutions and pools.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/convert_check/explain_parts.hpp"
#include "core/graph/attributes.hpp"
#include "core/model/tensor_elements.hpp"
#include "core/ops/shared/window.hpp"

namespace driftscope::convert {
namespace {

constexpr std::array<std::string_view, 4> windowed = {"Conv", "MaxPool", "AveragePool", "LpPool"};

std::optional<Shape> shape_of(const Side& side, ValueId value) {
  const RecordedValue* const recorded = side.find(side.graph()->value_name(value));
  if (recorded != nullptr) return recorded->tensor->shape();
  return side.graph()->values[value].static_shape();
}

/// Strides, dilations and pads of a window as they work out for its input.
struct Window {
  Ints strides;
  Ints dilations;
  Ints pads;
};
std::optional<Window> window_of(const Side& side, const Node& node) {
  const auto input = shape_of(side, node.inputs[0]);
  Ints kernel;
  if (node.op_type == "Conv") {
    const auto weights = side.constant(node.inputs[1]);
    if (!weights || weights->rank() < 3) return std::nullopt;
    kernel.assign(weights->shape().begin() + 2, weights->shape().end());
  } else if (auto given = ints_attribute(node, "kernel_shape", {}); given.ok()) {
    kernel = *given;
  }
  if (!input || input->size() != kernel.size() + 2) return std::nullopt;
  const auto attributes = read_window(node, kernel);
  if (!attributes.ok()) return std::nullopt;
  const auto axes = place_windows(*attributes, std::span(*input).subspan(2));
  if (!axes.ok()) return std::nullopt;
  Window window;
  for (const WindowAxis& axis : *axes) {
    window.strides.push_back(axis.stride);
    window.dilations.push_back(axis.dilation);
    window.pads.push_back(axis.pad_begin);
  }
  for (const WindowAxis& axis : *axes) window.pads.push_back(axis.pad_end);
  return window;
}

/// What a Pad node before the window adds to it, for the spatial axes; zeros where there is none.
Ints padding_before(const Side& side, const std::vector<NodeId>& nodes, std::size_t axes) {
  Ints pads(axes * 2, 0);
  for (const NodeId id : nodes) {
    const Node& node = side.graph()->nodes[id];
    if (node.op_type != "Pad" || node.inputs.size() < 2) continue;
    const auto given = side.constant(node.inputs[1]);
    if (!given || given->elements() != static_cast<std::int64_t>(2 * (axes + 2))) continue;
    const auto numbers = numbers_of(*given);
    for (std::size_t i = 0; i < axes; ++i) {
      pads[i] += static_cast<std::int64_t>(numbers[i + 2]);
      pads[axes + i] += static_cast<std::int64_t>(numbers[axes + 4 + i]);
    }
  }
  return pads;
}

}  // namespace

bool find_window(const Groups& groups, const NodePair& nodes, Reasons& reasons) {
  const Node& a = groups.node_a(nodes.a);
  const Node& b = groups.node_b(nodes.b);
  if (!(std::ranges::find(windowed, a.op_type) != windowed.end()) || a.op_type != b.op_type) return false;
  auto x = window_of(groups.a, a);
  auto y = window_of(groups.b, b);
  if (!x || !y || x->strides.size() != y->strides.size()) return false;
  const auto pads_a = padding_before(groups.a, groups.only_a, x->strides.size());
  const auto pads_b = padding_before(groups.b, groups.only_b, x->strides.size());
  for (std::size_t i = 0; i < x->pads.size(); ++i) x->pads[i] += pads_a[i], y->pads[i] += pads_b[i];
  const auto add = [&](Cause cause, const char* name, const Ints& expected, const Ints& got) {
    if (expected == got) return;
    const auto value = got;
    reasons.push_back({{0,
                        cause,
                        a.name,
                        b.name,
                        fmt::format("{} of {}: expected [{}], got [{}]", name, label(b),
                                    fmt::join(expected, ", "), fmt::join(got, ", ")),
                        {}},
                       [id = nodes.a, attribute = std::string(name), value](Graph& graph) {
                         auto& attributes = graph.nodes[id].attributes.edit();
                         std::erase_if(attributes, [&](const Attribute& one) {
                           return one.name == attribute || (attribute == "pads" && one.name == "auto_pad");
                         });
                         attributes.push_back({attribute, value});
                       }});
  };
  add(Cause::attribute, "strides", x->strides, y->strides);
  add(Cause::attribute, "dilations", x->dilations, y->dilations);
  // Pads at the end that no window reaches make no difference; those of other strides are not comparable.
  if (x->strides == y->strides && x->dilations == y->dilations) add(Cause::padding, "pads", x->pads, y->pads);
  return true;
}

}  // namespace driftscope::convert
