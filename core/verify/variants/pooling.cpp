// Poolings that treat what lies beyond their input in another way than the specification: means with another
// divisor, maxima that start from a positive number, a Pad of zeros taken for padding of the pooling, which
// has no values. Seen in ONNX Runtime 1.19 to 1.30 and in TensorFlow.js 4 (docs/museum.md).
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/graph/attributes.hpp"
#include "core/model/tensor_elements.hpp"
#include "core/ops/shared/pool.hpp"
#include "core/verify/variant.hpp"

namespace driftscope::variants::pooling {
namespace {

constexpr std::int64_t no_limit = -1;

/// The taps of a window that a mean with count_include_pad is divided by, along one axis, where the padding
/// at the end is `pad_end`.
std::int64_t taps(const WindowAxis& axis, std::int64_t window, std::int64_t pad_end) {
  return pad_end == no_limit ? axis.kernel : axis.first_tap_from(window, axis.input + pad_end);
}

std::string text_of(const std::vector<std::int64_t>& ends) {
  std::vector<std::string> words;
  for (const std::int64_t end : ends) words.push_back(end == no_limit ? "any" : std::to_string(end));
  return fmt::format("(padding at the end: {})", fmt::join(words, ", "));
}

/// What an axis's padding at its end is mistaken for: none of them twice, its own first.
std::vector<std::int64_t> ends_of(const std::vector<WindowAxis>& axes, std::size_t axis) {
  std::vector<std::int64_t> ends = {axes[axis].pad_end, no_limit, axes[axis].pad_begin};
  if (axes.size() == 2) ends.insert(ends.end(), {axes[1 - axis].pad_begin, axes[1 - axis].pad_end});
  std::vector<std::int64_t> distinct;
  for (const std::int64_t end : ends)
    if (std::ranges::find(distinct, end) == distinct.end()) distinct.push_back(end);
  return distinct;
}

/// The mean of each window times the product of share(axis, number of the axis, window) over its axes.
template <class Share>
Candidate rescaled(const PoolPlan& plan, std::string detail, Share share) {
  return {.factor =
              [plan, share = std::move(share)](std::int64_t element) {
                std::vector<std::int64_t> window;
                plan.locate(element % plan.y_plane, window);
                double factor = 1.0;
                for (std::size_t axis = 0; axis < window.size(); ++axis)
                  factor *= share(plan.axes[axis], axis, window[axis]);
                return factor;
              },
          .detail = std::move(detail)};
}

/// 1 where the other count is 0: a window without any element.
double quotient(std::int64_t right, std::int64_t other) {
  return other > 0 ? static_cast<double>(right) / static_cast<double>(other) : 1.0;
}

/// Padding that does not count is left out twice. A converter that knows no such padding divides by the
/// whole window and scales the result; LiteRT.js on WebGPU merges the Pad of it, which leaves the padding out
/// once more.
std::vector<Candidate> left_out_twice(const PoolPlan& plan) {
  const auto share = [](const WindowAxis& axis, std::size_t, std::int64_t window) {
    return quotient(axis.kernel, axis.tap_end(window) - axis.tap_begin(window));
  };
  return {rescaled(plan, "(the padding left out twice)", share)};
}

/// The mean's divisor counts other taps at the end of the axes.
std::vector<Candidate> other_divisor(const LayerCase& layer) {
  const Node& node = layer.node();
  const auto x = layer.derivation.known_shape(node.inputs[0]);
  const auto counts = flag_attribute(node, "count_include_pad", false);
  if (!x || !counts.ok()) return {};
  const auto plan = plan_pool(node, *x);
  if (!plan.ok() || plan->axes.size() > 3) return {};
  if (!*counts) return left_out_twice(*plan);
  std::vector<std::vector<std::int64_t>> choices = {{}};
  for (std::size_t axis = 0; axis < plan->axes.size(); ++axis) {
    std::vector<std::vector<std::int64_t>> longer;
    for (const std::int64_t end : ends_of(plan->axes, axis))
      for (const auto& choice : choices) {
        longer.push_back(choice);
        longer.back().push_back(end);
      }
    choices = std::move(longer);
  }
  std::vector<Candidate> list;
  for (std::size_t i = 1; i < choices.size(); ++i)  // the first one is the right one
    list.push_back(
        rescaled(*plan, text_of(choices[i]),
                 [ends = choices[i]](const WindowAxis& axis, std::size_t number, std::int64_t window) {
                   return quotient(taps(axis, window, axis.pad_end), taps(axis, window, ends[number]));
                 }));
  return list;
}

/// A maximum of negative numbers: what it starts from.
std::vector<Candidate> starts_at_smallest(const LayerCase& layer) {
  if (layer.output != 0) return {};
  const std::span<const Bounded> right = layer.right();
  return {{.source = [right](std::int64_t i) {
    return right[static_cast<std::size_t>(i)].value < 0.0 ? source_smallest : i;
  }}};
}

/// What a Pad of zeros adds around the axes behind the first two: all begins, then all ends. Nothing for
/// other nodes.
std::optional<Ints> zeros_around(const Node& pad, const Derivation& derivation, std::size_t rank) {
  const auto mode = string_attribute(pad, "mode", "constant");
  if (pad.op_type != "Pad" || !pad.domain.empty() || pad.opset < 11 || !mode.ok() || *mode != "constant" ||
      rank < 3 || pad.inputs.size() < 2 || pad.inputs.size() > 3 || pad.inputs[1] == no_value)
    return std::nullopt;
  const auto amounts = derivation.known_value(pad.inputs[1]);
  if (!amounts || amounts->dtype() != DType::int64 || amounts->values<std::int64_t>().size() != 2 * rank)
    return std::nullopt;
  if (pad.inputs.size() > 2 && pad.inputs[2] != no_value) {
    const auto value = derivation.known_value(pad.inputs[2]);
    if (!value || value->elements() != 1 || number_at(*value, 0) != 0.0) return std::nullopt;
  }
  const auto all = amounts->values<std::int64_t>();
  Ints around;
  for (const std::size_t side : {std::size_t{0}, rank})
    for (std::size_t axis = 0; axis < rank; ++axis) {
      const std::int64_t amount = all[side + axis];
      if (amount < 0 || (axis < 2 && amount != 0)) return std::nullopt;
      if (axis >= 2) around.push_back(amount);
    }
  return around;
}

/// One pooling in place of a Pad and a pooling.
std::vector<Candidate> merged_pad(const LayerCase& layer) {
  const Node& node = layer.node();
  if ((node.op_type != "AveragePool" && node.op_type != "MaxPool") || !node.domain.empty()) return {};
  const NodeId before = layer.graph.values[node.inputs[0]].producer;
  if (std::ranges::find(layer.derived.group, before) == layer.derived.group.end()) return {};
  const Node& pad = layer.graph.nodes[before];
  const auto around = zeros_around(pad, layer.derivation, layer.got.rank());
  const auto own = ints_attribute(node, "pads", Ints(around ? around->size() : 0, 0));
  if (!around || !own.ok() || own->size() != around->size() || node.attribute("auto_pad") != nullptr)
    return {};
  Ints pads = *own;
  for (std::size_t i = 0; i < pads.size(); ++i) pads[i] += (*around)[i];
  Node merged = node;
  merged.inputs = {pad.inputs[0]};
  merged.outputs.resize(1);
  std::erase_if(merged.attributes.edit(), [](const Attribute& one) { return one.name == "pads"; });
  merged.attributes.push_back({.name = "pads", .value = std::move(pads)});
  return {{.node = std::move(merged)}};
}

}  // namespace

void add_to(VariantTable& table) {
  table.add({.kind = VariantKind::faulty,
             .family = "attribute",
             .id = "pool_divisor",
             .name = "a mean divided by another count of elements",
             .operators = {"AveragePool"},
             .order = 11,
             .candidates = other_divisor});
  table.add({.kind = VariantKind::faulty,
             .family = "attribute",
             .id = "maximum_from_smallest",
             .name = "a maximum that starts at the smallest positive number",
             .operators = {"MaxPool", "GlobalMaxPool", "ReduceMax"},
             .order = 19,  // after activation.added: in narrow types 0 is as near
             .candidates = starts_at_smallest});
  table.add({.kind = VariantKind::faulty,
             .family = "attribute",
             .id = "pad_merged",
             .name = "the Pad before it merged into the pooling, whose padding counts for nothing",
             .operators = {"Pad"},
             .order = 10,
             .candidates = merged_pad,
             .fuses = true});
}

}  // namespace driftscope::variants::pooling
