#include "core/inputs/integer_limits.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "core/graph/attributes.hpp"
#include "core/model/element.hpp"

namespace driftscope {
namespace {

constexpr std::int64_t widest = std::int64_t{1} << 40;  // sums of such numbers fit

struct Range {
  std::int64_t low = -widest;
  std::int64_t end = widest;
};

/// Size of an axis of one of the node's inputs, when it is known.
std::optional<std::int64_t> axis_size(const Graph& graph, const Node& node, std::size_t input,
                                      std::int64_t axis) {
  if (input >= node.inputs.size() || node.inputs[input] == no_value) return std::nullopt;
  const auto& shape = graph.values[node.inputs[input]].shape;
  if (!shape) return std::nullopt;
  const auto rank = static_cast<std::int64_t>(shape->size());
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank || !(*shape)[static_cast<std::size_t>(axis)].known()) return std::nullopt;
  return (*shape)[static_cast<std::size_t>(axis)].size;
}

std::int64_t axis_attribute(const Node& node, std::string_view name, std::int64_t otherwise) {
  const auto axis = int_attribute(node, name, otherwise);
  return axis.ok() ? *axis : otherwise;
}

std::optional<Range> below(std::optional<std::int64_t> size) {
  if (!size) return std::nullopt;
  return Range{0, *size};
}

template <std::size_t data, int default_axis>
std::optional<Range> within_axis(const Graph& graph, const Node& node) {
  return below(axis_size(graph, node, data, axis_attribute(node, "axis", default_axis)));
}

template <std::size_t data, std::int64_t axis>
std::optional<Range> within(const Graph& graph, const Node& node) {
  return below(axis_size(graph, node, data, axis));
}

/// Whole index tuples: any of their numbers may stand at the shortest of the axes that they index.
template <std::size_t indices>
std::optional<Range> within_all(const Graph& graph, const Node& node) {
  const std::int64_t batch = axis_attribute(node, "batch_dims", 0);
  const auto count = axis_size(graph, node, indices, -1);
  std::optional<std::int64_t> least;
  for (std::int64_t axis = 0; count && axis < *count; ++axis) {
    const auto size = axis_size(graph, node, 0, batch + axis);
    if (!size) return std::nullopt;
    least = std::min(least.value_or(*size), *size);
  }
  return below(least);
}

std::optional<Range> below_depth(const Graph& graph, const Node& node) {
  if (node.inputs.size() < 2) return std::nullopt;
  const auto& depth = graph.values[node.inputs[1]].constant;
  if (!depth || depth->elements() != 1) return std::nullopt;
  std::optional<std::int64_t> number;
  visit_plain_number(depth->dtype(), [&]<class E>() {
    if constexpr (std::is_integral_v<typename E::Stored> && E::kind == ElementKind::integer)
      number = static_cast<std::int64_t>(depth->values<typename E::Stored>()[0]);
  });
  return below(number);
}

template <std::int64_t low, std::int64_t end>
std::optional<Range> fixed(const Graph&, const Node&) {
  return Range{low, end};
}

/// What an operator allows of one of its inputs.
struct Reader {
  std::string_view domain;
  std::string_view op_type;
  std::size_t input;
  std::optional<Range> (*allows)(const Graph& graph, const Node& node);
};
constexpr Reader readers[] = {
    {"", "Gather", 1, &within_axis<0, 0>},
    {"", "GatherElements", 1, &within_axis<0, 0>},
    {"", "GatherND", 1, &within_all<1>},
    {"", "Scatter", 1, &within_axis<0, 0>},
    {"", "ScatterElements", 1, &within_axis<0, 0>},
    {"", "ScatterND", 1, &within_all<1>},
    {"", "OneHot", 0, &below_depth},
    {"", "OneHot", 1, &fixed<1, 9>},
    {"", "Expand", 1, &fixed<1, 2>},
    {"", "Tile", 1, &fixed<1, 3>},
    {"", "ConstantOfShape", 0, &fixed<1, 5>},
    {"", "TopK", 1, &fixed<1, 2>},
    {"", "Div", 1, &fixed<1, widest>},
    {"", "Mod", 1, &fixed<1, widest>},
    {"", "RotaryEmbedding", 3, &within<1, 0>},
    {"ai.onnx.ml", "ArrayFeatureExtractor", 1, &within<0, -1>},
    {"com.microsoft", "EmbedLayerNormalization", 0, &within<2, 0>},
    {"com.microsoft", "EmbedLayerNormalization", 1, &within<4, 0>},
    {"com.microsoft", "EmbedLayerNormalization", 8, &within<3, 0>},
    {"com.microsoft", "GatherBlockQuantized", 1, &within<0, 0>},
    {"com.microsoft", "RotaryEmbedding", 1, &within<2, 0>},
};

/// Operators whose outputs hold the elements of these inputs (a mask of bits) and nothing else that counts.
struct Mover {
  std::string_view op_type;
  unsigned inputs;
};
constexpr unsigned all = ~0U;
constexpr Mover movers[] = {
    {"Cast", 1},     {"CastLike", 1},       {"Identity", 1}, {"Unsqueeze", 1},
    {"Squeeze", 1},  {"Reshape", 1},        {"Flatten", 1},  {"Transpose", 1},
    {"Expand", 1},   {"Slice", 1},          {"Split", 1},    {"Tile", 1},
    {"Pad", 1},      {"Gather", 1},         {"GatherND", 1}, {"Where", 6},
    {"Concat", all}, {"GatherElements", 1},
};

/// The number that is added to an input of Add or Sub, as the range of a constant; nothing: not known.
std::optional<Range> constant_range(const Graph& graph, ValueId id) {
  if (id == no_value || !graph.values[id].constant) return std::nullopt;
  const Tensor& constant = *graph.values[id].constant;
  if (constant.elements() < 1 || constant.elements() > 4096) return std::nullopt;
  std::optional<Range> range;
  visit_plain_number(constant.dtype(), [&]<class E>() {
    if constexpr (std::is_integral_v<typename E::Stored> && E::kind == ElementKind::integer) {
      const auto [least, most] = std::ranges::minmax(constant.values<typename E::Stored>());
      const auto clamped = [](auto x) {
        return static_cast<std::int64_t>(
            std::clamp<long double>(static_cast<long double>(x), -widest, widest));
      };
      range = Range{clamped(least), clamped(most)};
    }
  });
  return range;
}

class Walk {
 public:
  /// From an input of the outermost graph.
  void run(const Graph& graph, ValueId input) {
    pass_on(graph, input, {0, 0});
    while (!waiting_.empty()) {
      const Reached reached = waiting_.back();
      waiting_.pop_back();
      visit(reached);
    }
  }

  [[nodiscard]] Range range() const { return range_; }
  [[nodiscard]] bool limited() const { return limited_; }

 private:
  struct Reached {
    const Graph* graph;
    ValueId id;
    Range offset;  // what has been added to the input's elements, least and most
  };

  /// By value the nodes that read it, or have a subgraph that does.
  const std::vector<NodeId>& readers_of(const Graph& graph, ValueId id) {
    auto& by_value = readers_[&graph];
    if (by_value.empty()) {
      by_value.resize(graph.values.size());
      for (std::size_t n = 0; n < graph.nodes.size(); ++n)
        for (const ValueId read : graph.nodes[n].reads())
          if (read != no_value && (by_value[read].empty() || by_value[read].back() != n))
            by_value[read].push_back(static_cast<NodeId>(n));
    }
    return by_value[id];
  }

  void visit(const Reached& reached) {
    const Graph& graph = *reached.graph;
    for (const NodeId n : readers_of(graph, reached.id)) {
      const Node& node = graph.nodes[n];
      for (std::size_t i = 0; i < node.inputs.size(); ++i)
        if (node.inputs[i] == reached.id) read(graph, node, i, reached.offset);
      for (const Subgraph& subgraph : node.subgraphs)
        for (std::size_t c = 0; c < subgraph.captured.size(); ++c)
          if (node.captured[subgraph.captured[c]] == reached.id)
            pass_on(*subgraph.graph, subgraph.graph->captured[c], reached.offset);
    }
  }

  void read(const Graph& graph, const Node& node, std::size_t input, Range offset) {
    for (const Reader& reader : readers)
      if (reader.domain == node.domain && reader.op_type == node.op_type && reader.input == input)
        if (const auto range = reader.allows(graph, node)) limit(*range, offset);
    if (!node.domain.empty()) return;
    for (const Mover& mover : movers)
      if (mover.op_type == node.op_type && input < 32 && (mover.inputs >> input & 1U) != 0)
        for (const ValueId output : node.outputs) pass_on(graph, output, offset);
    const bool add = node.op_type == "Add";
    if ((!add && node.op_type != "Sub") || node.inputs.size() != 2 || (!add && input != 0)) return;
    const auto other = constant_range(graph, node.inputs[1 - input]);
    if (!other) return;
    const Range more = add ? *other : Range{-other->end, -other->low};
    const Range sum{offset.low + more.low, offset.end + more.end};
    if (sum.low > -widest && sum.end < widest) pass_on(graph, node.outputs[0], sum);
  }

  void pass_on(const Graph& graph, ValueId id, Range offset) {
    if (id != no_value && seen_.insert({&graph, id}).second) waiting_.push_back({&graph, id, offset});
  }

  void limit(Range allowed, Range offset) {
    limited_ = true;
    range_.low = std::max(range_.low, allowed.low - offset.low);
    range_.end = std::min(range_.end, allowed.end - offset.end);
  }

  Range range_;
  bool limited_ = false;
  std::vector<Reached> waiting_;
  std::set<std::pair<const Graph*, ValueId>> seen_;
  std::map<const Graph*, std::vector<std::vector<NodeId>>> readers_;
};

}  // namespace

IntegerLimits integer_limits(const Graph& bound, ValueId input, std::int64_t low, std::int64_t end) {
  Walk walk;
  walk.run(bound, input);
  if (!walk.limited()) return {low, end, false};
  Range range = walk.range();
  // A divisor has a least, but no greatest.
  if (range.end == widest) range.end = std::max(end, range.low + 4);
  return {range.low, range.end, true};
}

}  // namespace driftscope
