#include "core/graph/unfold.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/graph/attributes.hpp"

namespace driftscope {
namespace {

constexpr std::string_view unfolded_domain = "driftscope";

// A record says how often a body is repeated, and files may say anything.
constexpr std::size_t max_size = std::size_t{1} << 20;  // values and nodes

// A Loop or Scan as its attributes say it.
struct LoopPlan {
  std::size_t carried = 0;
  std::size_t first_output = 0;  // of the body: after Loop's condition
  Ints input_axes, input_reversed, output_axes, output_reversed;
};

std::optional<LoopPlan> loop_plan(const Node& node, const Graph& body) {
  LoopPlan plan;
  plan.carried = carried_values(node);
  plan.first_output = node.op_type == "Loop" ? 1 : 0;
  if (node.outputs.size() < plan.carried || body.outputs.size() != node.outputs.size() + plan.first_output)
    return std::nullopt;
  const std::size_t stacked = node.outputs.size() - plan.carried;
  const std::size_t scanned = node.op_type == "Scan" ? node.inputs.size() - plan.carried : 0;
  if (body.inputs.size() != own_body_inputs(node) + plan.carried + scanned) return std::nullopt;
  for (std::size_t i = own_body_inputs(node); i < node.inputs.size(); ++i)
    if (node.inputs[i] == no_value) return std::nullopt;
  const auto read = [&](std::string_view name, std::size_t count, Ints& list) {
    auto found = ints_attribute(node, name, Ints(count, 0));
    if (!found.ok() || found->size() != count) return false;
    list = *std::move(found);
    return true;
  };
  if (node.op_type == "Loop") {
    plan.output_axes = Ints(stacked, 0);
    plan.output_reversed = Ints(stacked, 0);
    return plan;
  }
  const bool fits = read("scan_input_axes", scanned, plan.input_axes) &&
                    read("scan_input_directions", scanned, plan.input_reversed) &&
                    read("scan_output_axes", stacked, plan.output_axes) &&
                    read("scan_output_directions", stacked, plan.output_reversed);
  return fits ? std::optional(plan) : std::nullopt;
}

class Unfolder {
 public:
  Unfolder(const Graph& graph, std::span<const ControlFlowRecord> records, const HasValue& has) : has_(has) {
    for (const ControlFlowRecord& record : records) records_.emplace(record.node, &record);
    result_ = graph;
    result_.nodes.clear();
    std::vector<ValueId> same(graph.values.size());
    for (ValueId id = 0; id < same.size(); ++id) same[id] = id;
    for (const Node& node : graph.nodes) add(node, same, "");
  }

  [[nodiscard]] Graph take() { return std::move(result_); }

 private:
  // By value of a subgraph its value here.
  using Ids = std::vector<ValueId>;

  // Whether there is room for a subgraph, so many times.
  [[nodiscard]] bool has_room(const Graph& inside, std::size_t times = 1) const {
    const std::size_t used = result_.values.size() + result_.nodes.size();
    const std::size_t one = inside.values.size() + inside.nodes.size() + 1;
    return used < max_size && (max_size - used) / one >= times;
  }

  void push(Node node) {
    const auto id = static_cast<NodeId>(result_.nodes.size());
    for (const ValueId output : node.outputs)
      if (output != no_value) result_.values[output].producer = id;
    result_.nodes.push_back(std::move(node));
  }

  ValueId add_value(Value value, std::string name) {
    value.name = std::move(name);
    value.producer = no_node;
    result_.values.push_back(std::move(value));
    return static_cast<ValueId>(result_.values.size() - 1);
  }

  ValueId add_constant(const Value& like, std::string name, Tensor tensor) {
    Value value = like;
    value.dtype = tensor.dtype();
    value.constant = std::move(tensor);
    return add_value(std::move(value), std::move(name));
  }

  /// `node` of a graph whose values are `ids` here, inside `scope`.
  void add(const Node& node, const Ids& ids, const std::string& scope) {
    Node own = node;
    own.name = scope + node.name;
    for (auto* list : {&own.inputs, &own.outputs, &own.captured})
      for (ValueId& id : *list)
        if (id != no_value) id = ids[id];
    if (!has_layers_inside(node) || !unfolded(own)) push(std::move(own));
  }

  bool unfolded(const Node& node) {
    const auto [begin, end] = records_.equal_range(node.name);
    if (begin == end) return false;
    if (node.op_type != "If") return unfold_loop(node, *begin->second);
    std::vector<ValueId> outputs;
    for (auto record = begin; record != end; ++record) {
      const auto made = unfold_branch(node, record->second->branch);
      if (!made || made->size() != node.outputs.size()) return false;
      outputs = *made;
    }
    pass_on(node, std::move(outputs), node.outputs, {});
    return true;
  }

  std::optional<std::vector<ValueId>> unfold_branch(const Node& node, std::string_view branch) {
    for (const Subgraph& subgraph : node.subgraphs)
      if (!branch.empty() && branch_of(subgraph.attribute) == branch && subgraph.graph->inputs.empty() &&
          subgraph.graph->outputs.size() == node.outputs.size() && has_room(*subgraph.graph))
        return inlined(node, subgraph, {}, branch_scope(node.name, branch));
    return std::nullopt;
  }

  // Its outputs; `inputs` are those of the subgraph.
  std::vector<ValueId> inlined(const Node& node, const Subgraph& subgraph, std::span<const ValueId> inputs,
                               const std::string& scope) {
    const Graph& inside = *subgraph.graph;
    Ids ids(inside.values.size(), no_value);
    for (std::size_t i = 0; i < inside.captured.size(); ++i)
      ids[inside.captured[i]] = node.captured[subgraph.captured[i]];
    for (std::size_t i = 0; i < inside.inputs.size(); ++i) ids[inside.inputs[i]] = inputs[i];
    for (ValueId id = 0; id < ids.size(); ++id)
      if (ids[id] == no_value) ids[id] = add_value(inside.values[id], scope + inside.values[id].name);
    for (const Node& one : inside.nodes) add(one, ids, scope);
    std::vector<ValueId> outputs;
    for (const ValueId id : inside.outputs) outputs.push_back(ids[id]);
    return outputs;
  }

  void pass_on(const Node& node, std::vector<ValueId> inputs, std::vector<ValueId> outputs,
               std::vector<Attribute> attributes) {
    Node rest{.name = node.name,
              .op_type = node.op_type,
              .domain = std::string(unfolded_domain),
              .inputs = std::move(inputs),
              .outputs = std::move(outputs),
              .attributes = std::move(attributes),
              .subgraphs = {},
              .captured = {}};
    rest.opset = 1;
    push(std::move(rest));
  }

  bool unfold_loop(const Node& node, const ControlFlowRecord& record) {
    if (node.subgraphs.size() != 1 || record.recorded.empty()) return false;
    const Subgraph& body = node.subgraphs[0];
    const auto plan = loop_plan(node, *body.graph);
    if (!plan || !has_room(*body.graph, record.recorded.size()) || record.recorded.front() < 0 ||
        record.recorded.back() >= record.iterations ||
        std::ranges::adjacent_find(record.recorded, std::ranges::greater_equal{}) != record.recorded.end())
      return false;
    std::map<std::int64_t, std::vector<ValueId>> made;  // by iteration the outputs of its body
    for (const std::int64_t iteration : record.recorded) {
      const auto before = made.find(iteration - 1);
      const auto inputs = body_inputs(node, *body.graph, *plan, record, iteration,
                                      before == made.end() ? nullptr : &before->second);
      if (inputs) made[iteration] = inlined(node, body, *inputs, iteration_scope(node.name, iteration));
    }
    if (!made.contains(record.iterations - 1)) {
      push(node);
      return true;
    }
    finish_loop(node, *plan, record, made);
    return true;
  }

  std::optional<std::vector<ValueId>> body_inputs(const Node& node, const Graph& body, const LoopPlan& plan,
                                                  const ControlFlowRecord& record, std::int64_t iteration,
                                                  const std::vector<ValueId>* before) {
    const std::string scope = iteration_scope(node.name, iteration);
    const std::size_t own = own_body_inputs(node);
    const auto name_of = [&](std::size_t i) { return scope + body.values[body.inputs[i]].name; };
    for (std::size_t i = own; before == nullptr && iteration > 0 && i < own + plan.carried; ++i)
      if (!has_(name_of(i))) return std::nullopt;
    std::vector<ValueId> inputs;
    for (std::size_t i = 0; i < body.inputs.size(); ++i) {
      const Value& formal = body.values[body.inputs[i]];
      if (i < own) {
        auto constant = i == 0 ? Tensor::from_values<std::int64_t>({}, std::array{iteration})
                               : Tensor::make(DType::boolean, {});
        if (!constant.ok()) return std::nullopt;
        if (i == 1) constant->mutable_bytes()[0] = std::byte{1};
        inputs.push_back(add_constant(formal, name_of(i), *std::move(constant)));
      } else if (i - own >= plan.carried) {
        inputs.push_back(add_slice(
            node, plan, i - plan.carried, formal, scope,
            plan.input_reversed[i - plan.carried] != 0 ? record.iterations - 1 - iteration : iteration));
        if (inputs.back() == no_value) return std::nullopt;
      } else if (before != nullptr) {
        inputs.push_back((*before)[plan.first_output + i - own]);
      } else {
        inputs.push_back(iteration == 0 ? node.inputs[i] : add_value(formal, name_of(i)));
      }
    }
    return inputs;
  }

  // What the body reads of scanned input `n`.
  ValueId add_slice(const Node& node, const LoopPlan& plan, std::size_t n, const Value& formal,
                    const std::string& scope, std::int64_t place) {
    auto index = Tensor::from_values<std::int64_t>({}, std::array{place});
    if (!index.ok()) return no_value;
    const ValueId slice = add_value(formal, scope + formal.name);
    const ValueId at = add_constant(Value{}, scope + formal.name + "[]", *std::move(index));
    Node gather{.name = scope + formal.name,
                .op_type = "Gather",
                .domain = "",
                .inputs = {node.inputs[plan.carried + n], at},
                .outputs = {slice},
                .attributes = {{"axis", plan.input_axes[n]}},
                .subgraphs = {},
                .captured = {}};
    gather.opset = 13;
    push(std::move(gather));
    return slice;
  }

  void finish_loop(const Node& node, const LoopPlan& plan, const ControlFlowRecord& record,
                   const std::map<std::int64_t, std::vector<ValueId>>& made) {
    const std::size_t stacked = node.outputs.size() - plan.carried;
    const bool all = static_cast<std::int64_t>(made.size()) == record.iterations;
    const std::vector<ValueId>& last = made.rbegin()->second;
    const auto carried_end = static_cast<std::ptrdiff_t>(plan.carried);
    std::vector<ValueId> inputs(last.begin() + static_cast<std::ptrdiff_t>(plan.first_output),
                                last.begin() + static_cast<std::ptrdiff_t>(plan.first_output) + carried_end);
    if (stacked == 0) return pass_on(node, std::move(inputs), node.outputs, {});
    if (!all) {
      // What it collects has no reference in the values that were recorded: the whole loop is evaluated.
      if (plan.carried > 0)
        pass_on(node, std::move(inputs), {node.outputs.begin(), node.outputs.begin() + carried_end}, {});
      Node whole = node;
      std::fill(whole.outputs.begin(), whole.outputs.begin() + carried_end, no_value);
      return push(std::move(whole));
    }
    for (std::size_t n = 0; n < stacked; ++n)
      for (const auto& [iteration, outputs] : made)
        inputs.push_back(outputs[plan.first_output + plan.carried + n]);
    pass_on(
        node, std::move(inputs), node.outputs,
        {{"iterations", record.iterations}, {"axes", plan.output_axes}, {"reversed", plan.output_reversed}});
  }

  const HasValue& has_;
  std::multimap<std::string, const ControlFlowRecord*, std::less<>> records_;  // in the order given
  Graph result_;
};

}  // namespace

Graph unfold(const Graph& graph, std::span<const ControlFlowRecord> records, const HasValue& has) {
  if (records.empty()) return graph;
  return Unfolder(graph, records, has).take();
}

}  // namespace driftscope
