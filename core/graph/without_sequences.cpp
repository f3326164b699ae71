#include "core/graph/without_sequences.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <variant>

#include "core/graph/node_names.hpp"

namespace driftscope {
namespace {

/// A sequence by the tensors in it.
struct List {
  std::vector<std::string> items;
};

/// An optional of a tensor; of a sequence it is that sequence.
struct Maybe {
  std::string tensor;  // empty: nothing
};

/// Equal parts of a tensor along an axis, of which it is not known how many there are.
struct Parts {
  std::string tensor;
  std::int64_t axis = 0;
  std::int64_t size = 1;
  bool keeps_axis = true;
};

using Held = std::variant<List, Parts, Maybe>;

// Items of all lists that are made on the way: a chain of insertions copies the list each time.
constexpr std::size_t max_items = std::size_t{1} << 22;

constexpr std::array<std::string_view, 10> makers_and_readers = {
    "SequenceConstruct", "SequenceEmpty",      "SequenceInsert",  "SequenceErase",      "SequenceAt",
    "SequenceLength",    "ConcatFromSequence", "SplitToSequence", "OptionalHasElement", "OptionalGetElement"};

bool is_about_sequences(const ModelNode& node) {
  return node.domain.empty() &&
         (node.op_type == "Optional" ||
          std::ranges::find(makers_and_readers, node.op_type) != makers_and_readers.end());
}

const ModelGraph* subgraph_of(const Attribute& attribute) {
  const auto* const graph = std::get_if<std::shared_ptr<const ModelGraph>>(&attribute.value);
  return graph == nullptr ? nullptr : graph->get();
}

bool has_sequences(const ModelGraph& file) {
  return std::ranges::any_of(file.nodes, [](const ModelNode& node) {
    return is_about_sequences(node) || std::ranges::any_of(node.attributes, [](const Attribute& attribute) {
             const ModelGraph* const inside = subgraph_of(attribute);
             return inside != nullptr && has_sequences(*inside);
           });
  });
}

std::int64_t integer(const ModelNode& node, std::string_view name, std::int64_t otherwise) {
  for (const Attribute& attribute : node.attributes)
    if (const auto* const value = std::get_if<std::int64_t>(&attribute.value);
        attribute.name == name && value != nullptr)
      return *value;
  return otherwise;
}

/// Of int32 or int64, at most this many.
std::optional<std::vector<std::int64_t>> integers(const Tensor& tensor) {
  constexpr std::int64_t most = 4096;
  if (tensor.elements() > most) return std::nullopt;
  std::vector<std::int64_t> list;
  if (tensor.dtype() == DType::int64)
    list.assign(tensor.values<std::int64_t>().begin(), tensor.values<std::int64_t>().end());
  else if (tensor.dtype() == DType::int32)
    list.assign(tensor.values<std::int32_t>().begin(), tensor.values<std::int32_t>().end());
  else
    return std::nullopt;
  return list;
}

/// One graph; those inside it see what it knows.
class Rewriter {
 public:
  Rewriter(const ModelGraph& file, std::int64_t opset, const Rewriter* around)
      : file_(file), opset_(opset), around_(around), result_(file) {
    for (const NamedTensor& initializer : file.initializers) {
      constants_.emplace(initializer.name, &initializer.tensor);
      taken_.insert(initializer.name);
    }
    for (const ValueInfo& input : file.inputs) {
      taken_.insert(input.name);
      if (around == nullptr) tensors_.insert(input.name);  // the reader refuses others
    }
    for (const ModelNode& node : file.nodes) {
      for (const std::string& output : node.outputs) taken_.insert(output);
      const bool plain = node.domain.empty() && !is_about_sequences(node) && node.op_type != "Identity" &&
                         std::ranges::none_of(node.attributes, [](const Attribute& attribute) {
                           return subgraph_of(attribute) != nullptr;
                         });
      if (plain) tensors_.insert(node.outputs.begin(), node.outputs.end());
      if (node.op_type != "Constant" || !node.domain.empty() || node.outputs.size() != 1) continue;
      for (const Attribute& attribute : node.attributes)
        if (const auto* const value = std::get_if<Tensor>(&attribute.value))
          constants_.emplace(node.outputs[0], value);
    }
    result_.nodes.clear();
  }

  std::optional<ModelGraph> run(std::vector<ModelNote>& notes) {
    const std::vector<std::string> names = unique_node_names(file_.nodes);
    for (std::size_t i = 0; i < file_.nodes.size(); ++i) {
      ModelNode node = file_.nodes[i];
      node.name = names[i];
      if (!add(std::move(node), notes)) return std::nullopt;
    }
    for (const ValueInfo& output : file_.outputs)
      if (held(output.name) != nullptr) return std::nullopt;
    std::erase_if(result_.value_infos, [&](const ValueInfo& info) { return held(info.name) != nullptr; });
    present_outputs(notes);
    return std::move(result_);
  }

 private:
  [[nodiscard]] const Held* held(const std::string& name) const {
    const auto found = held_.find(name);
    if (found != held_.end()) return &found->second;
    return around_ == nullptr || taken_.contains(name) ? nullptr : around_->held(name);
  }

  [[nodiscard]] const Tensor* constant(const std::string& name) const {
    const auto found = constants_.find(name);
    if (found != constants_.end()) return found->second;
    return around_ == nullptr || taken_.contains(name) ? nullptr : around_->constant(name);
  }

  [[nodiscard]] static std::string input(const ModelNode& node, std::size_t i) {
    return i < node.inputs.size() ? node.inputs[i] : "";
  }

  /// The position that a node takes; nothing where it is computed.
  [[nodiscard]] std::optional<std::int64_t> position(const std::string& name) const {
    const Tensor* const tensor = constant(name);
    if (tensor == nullptr) return std::nullopt;
    const auto list = integers(*tensor);
    return list && list->size() == 1 ? std::optional(list->front()) : std::nullopt;
  }

  [[nodiscard]] bool is_taken(const std::string& name) const {
    return taken_.contains(name) || (around_ != nullptr && around_->is_taken(name));
  }

  std::string fresh(std::string name) {
    while (is_taken(name)) name += "'";
    taken_.insert(name);
    return name;
  }

  std::string add_constant(const std::string& name, std::vector<std::int64_t> values, bool scalar) {
    const Shape shape = scalar ? Shape{} : Shape{static_cast<std::int64_t>(values.size())};
    auto tensor = Tensor::from_values<std::int64_t>(shape, values);
    result_.initializers.push_back({fresh(name), tensor.ok() ? *std::move(tensor) : Tensor()});
    return result_.initializers.back().name;
  }

  /// The node with another operator, in its place and under its name.
  bool put(const ModelNode& node, std::string op_type, std::vector<std::string> inputs,
           std::vector<Attribute> attributes = {}) {
    ModelNode made = node;
    made.op_type = std::move(op_type);
    made.inputs = std::move(inputs);
    made.attributes = std::move(attributes);
    result_.nodes.push_back(std::move(made));
    return true;
  }

  /// Another node before that one.
  std::string put_before(const ModelNode& node, std::string op_type, std::vector<std::string> inputs,
                         std::vector<Attribute> attributes = {}) {
    ModelNode made = node;
    made.name.clear();
    made.outputs = {fresh(node.outputs[0] + "/" + op_type)};
    (void)put(made, std::move(op_type), std::move(inputs), std::move(attributes));
    return made.outputs[0];
  }

  bool hold(const ModelNode& node, Held value) {
    if (const auto* const list = std::get_if<List>(&value)) {
      made_ += list->items.size();
      if (made_ > max_items) return false;
    }
    held_[node.outputs[0]] = std::move(value);
    return true;
  }

  [[nodiscard]] std::int64_t version(const ModelNode& node) const {
    return node.opset != 0 ? node.opset : opset_;
  }

  // False: the graph stays as it is in the file.
  bool add(ModelNode node, std::vector<ModelNote>& notes) {
    if (is_about_sequences(node)) return node.outputs.size() == 1 && add_of_sequences(node);
    const bool passes = node.op_type == "Identity" && node.domain.empty() && node.outputs.size() == 1;
    if (const Held* const value = held(input(node, 0)); passes && value != nullptr) return hold(node, *value);
    if (node.op_type == "Loop" && node.domain.empty() && !collect_loops(node)) return false;
    if (std::ranges::any_of(node.inputs, [&](const std::string& name) { return held(name) != nullptr; }))
      return false;
    for (std::size_t i = 0; i < node.attributes.size(); ++i)
      if (!add_inside(node, i, notes)) return false;
    result_.nodes.push_back(std::move(node));
    return true;
  }

  // Rewrites the graph in an attribute.
  bool add_inside(ModelNode& node, std::size_t i, std::vector<ModelNote>& notes) {
    std::vector<Attribute> attributes(node.attributes.begin(), node.attributes.end());
    const ModelGraph* const inside = subgraph_of(attributes[i]);
    if (inside == nullptr) return true;
    Rewriter rewriter(*inside, version(node), this);
    auto rewritten = rewriter.run(notes);
    if (!rewritten) return false;
    attributes[i].value = std::make_shared<const ModelGraph>(*std::move(rewritten));
    node.attributes = std::move(attributes);
    return true;
  }

  bool add_of_sequences(const ModelNode& node) {
    if (node.op_type == "SequenceConstruct") return hold(node, List{node.inputs});
    if (node.op_type == "SequenceEmpty") return hold(node, List{});
    if (node.op_type == "SplitToSequence") return split(node);
    if (node.op_type.starts_with("Optional")) return add_optional(node);
    const Held* const value = held(input(node, 0));
    if (value == nullptr) return false;
    if (const auto* const parts = std::get_if<Parts>(value)) return read_parts(node, *parts);
    const auto* const list = std::get_if<List>(value);
    if (list == nullptr) return false;
    if (node.op_type == "SequenceInsert" || node.op_type == "SequenceErase") return edit(node, *list);
    if (node.op_type == "SequenceLength")
      return put_integer(node, static_cast<std::int64_t>(list->items.size()));
    if (node.op_type == "ConcatFromSequence") return concat(node, *list);
    const auto at = place(position(input(node, 1)), list->items.size());  // SequenceAt
    return at && *at < list->items.size() && put(node, "Identity", {list->items[*at]});
  }

  /// A position among `count`, counted from the end if negative.
  static std::optional<std::size_t> place(std::optional<std::int64_t> position, std::size_t count) {
    const auto size = static_cast<std::int64_t>(count);
    if (!position || *position < -size || *position > size) return std::nullopt;
    return static_cast<std::size_t>(*position < 0 ? *position + size : *position);
  }

  bool put_integer(const ModelNode& node, std::int64_t number) {
    return put(node, "Identity", {add_constant(node.outputs[0] + "/value", {number}, true)});
  }

  /// Whether a value is surely a tensor: a subgraph, or a node that is not known here, may make an optional.
  [[nodiscard]] bool is_tensor(const std::string& name) const {
    if (constants_.contains(name) || tensors_.contains(name)) return true;
    return around_ != nullptr && !taken_.contains(name) && around_->is_tensor(name);
  }

  bool add_optional(const ModelNode& node) {
    const std::string name = input(node, 0);
    if (!name.empty() && held(name) == nullptr && !is_tensor(name)) return false;
    const Held* const value = held(name);
    const auto* const maybe = value == nullptr ? nullptr : std::get_if<Maybe>(value);
    const bool of_sequence = value != nullptr && maybe == nullptr;
    const std::string tensor = maybe != nullptr ? maybe->tensor : name;
    if (node.op_type == "Optional") return hold(node, of_sequence ? *value : Maybe{tensor});
    if (node.op_type == "OptionalGetElement") {  // of a tensor, too, since opset 18
      if (of_sequence) return hold(node, *value);
      return !tensor.empty() && put(node, "Identity", {tensor});
    }
    auto has = Tensor::from_bytes(DType::boolean, {}, std::array{std::byte{of_sequence || !tensor.empty()}});
    if (!has.ok()) return false;
    result_.initializers.push_back({fresh(node.outputs[0] + "/value"), *std::move(has)});
    return put(node, "Identity", {result_.initializers.back().name});
  }

  bool edit(const ModelNode& node, List list) {
    const bool inserts = node.op_type == "SequenceInsert";
    const std::string where = input(node, inserts ? 2 : 1);
    const std::size_t count = list.items.size();
    const auto at =
        where.empty() ? std::optional(inserts ? count : count - 1) : place(position(where), count);
    if (!at || (!inserts && *at >= count)) return false;
    const auto there = list.items.begin() + static_cast<std::ptrdiff_t>(*at);
    if (inserts)
      list.items.insert(there, input(node, 1));
    else
      list.items.erase(there);
    return hold(node, std::move(list));
  }

  bool concat(const ModelNode& node, List list) {
    const std::int64_t axis = integer(node, "axis", 0);
    if (list.items.empty()) return false;
    if (integer(node, "new_axis", 0) != 0) {
      const bool as_input = version(node) >= 13;
      const std::string axes =
          as_input ? add_constant(node.outputs[0] + "/axes", {axis}, false) : std::string();
      for (std::string& item : list.items)
        item = as_input ? put_before(node, "Unsqueeze", {item, axes})
                        : put_before(node, "Unsqueeze", {item}, {{"axes", std::vector<std::int64_t>{axis}}});
    }
    return put(node, "Concat", std::move(list.items), {{"axis", axis}});
  }

  bool split(const ModelNode& node) {
    const std::int64_t axis = integer(node, "axis", 0);
    const std::string sizes = input(node, 1);
    if (sizes.empty()) return hold(node, Parts{node.inputs[0], axis, 1, integer(node, "keepdims", 1) != 0});
    const Tensor* const given = constant(sizes);
    const auto list = given == nullptr ? std::nullopt : integers(*given);
    if (!list) return false;
    if (given->rank() == 0)
      return list->front() > 0 && hold(node, Parts{node.inputs[0], axis, list->front(), true});
    ModelNode made = node;
    made.outputs.clear();
    for (std::size_t i = 0; i < list->size(); ++i)
      made.outputs.push_back(fresh(fmt::format("{}[{}]", node.outputs[0], i)));
    if (made.outputs.empty()) return false;
    if (version(node) >= 13)
      (void)put(made, "Split", {node.inputs[0], sizes}, {{"axis", axis}});
    else
      (void)put(made, "Split", {node.inputs[0]}, {{"axis", axis}, {"split", *list}});
    return hold(node, List{made.outputs});
  }

  bool read_parts(const ModelNode& node, const Parts& parts) {
    if (node.op_type == "ConcatFromSequence") {
      const bool adds_axis = integer(node, "new_axis", 0) != 0;
      return integer(node, "axis", 0) == parts.axis && adds_axis != parts.keeps_axis &&
             put(node, "Identity", {parts.tensor});
    }
    if (node.op_type == "SequenceLength") {
      if (parts.size != 1) return false;
      const std::string shape = put_before(node, "Shape", {parts.tensor});
      const std::string axis = add_constant(node.outputs[0] + "/axis", {parts.axis}, true);
      return put(node, "Gather", {shape, axis}, {{"axis", std::int64_t{0}}});
    }
    return node.op_type == "SequenceAt" && take_part(node, parts);
  }

  bool take_part(const ModelNode& node, const Parts& parts) {
    const auto at = position(input(node, 1));
    const std::string base = node.outputs[0];
    if (!parts.keeps_axis || parts.size == 1) {
      std::string index = input(node, 1);
      if (at)
        index = add_constant(base + "/index", {*at}, !parts.keeps_axis);
      else if (parts.keeps_axis)
        index = put_before(node, "Reshape", {index, add_constant(base + "/shape", {1}, false)});
      return put(node, "Gather", {parts.tensor, index}, {{"axis", parts.axis}});
    }
    // The last part may be smaller: from the end it is not known where parts begin.
    constexpr std::int64_t most = std::int64_t{1} << 31;
    if (!at || *at < 0 || *at > most || parts.size > most) return false;
    return put(node, "Slice",
               {parts.tensor, add_constant(base + "/starts", {*at * parts.size}, false),
                add_constant(base + "/ends", {(*at + 1) * parts.size}, false),
                add_constant(base + "/axes", {parts.axis}, false)});
  }

  // A list that begins empty and gets a tensor in each iteration is what a Loop stacks by itself.
  bool collect_loops(ModelNode& node) {
    for (std::size_t i = node.inputs.size(); i-- > 2;) {
      const Held* const value = held(node.inputs[i]);
      if (value == nullptr) continue;
      const auto* const list = std::get_if<List>(value);
      if (list == nullptr || !list->items.empty() || !collect(node, i - 2)) return false;
    }
    return true;
  }

  bool collect(ModelNode& node, std::size_t carried) {
    std::vector<Attribute> attributes(node.attributes.begin(), node.attributes.end());
    const auto body = std::ranges::find(attributes, "body", &Attribute::name);
    const ModelGraph* const file = body == attributes.end() ? nullptr : subgraph_of(*body);
    if (file == nullptr || carried >= node.outputs.size() || file->inputs.size() <= carried + 2 ||
        file->outputs.size() <= carried + 1)
      return false;
    const std::string from = file->inputs[carried + 2].name;
    const std::string to = file->outputs[carried + 1].name;
    const auto makes = [&](const ModelNode& inner) {
      return inner.op_type == "SequenceInsert" && inner.domain.empty() && inner.outputs.size() == 1 &&
             inner.outputs[0] == to && inner.inputs.size() >= 2 && inner.inputs[0] == from &&
             input(inner, 2).empty();
    };
    const auto insert = std::ranges::find_if(file->nodes, makes);
    if (insert == file->nodes.end() || uses(*file, from) != 1 || uses(*file, to) != 1) return false;
    ModelGraph stacked = *file;
    stacked.inputs.erase(stacked.inputs.begin() + static_cast<std::ptrdiff_t>(carried + 2));
    stacked.outputs.erase(stacked.outputs.begin() + static_cast<std::ptrdiff_t>(carried + 1));
    stacked.outputs.push_back({.name = insert->inputs[1], .shape = {}});
    stacked.nodes.erase(stacked.nodes.begin() + (insert - file->nodes.begin()));
    body->value = std::make_shared<const ModelGraph>(std::move(stacked));
    node.attributes = std::move(attributes);
    const std::string sequence = node.outputs[carried];
    node.inputs.erase(node.inputs.begin() + static_cast<std::ptrdiff_t>(carried + 2));
    node.outputs.erase(node.outputs.begin() + static_cast<std::ptrdiff_t>(carried));
    node.outputs.push_back(fresh(sequence + "[…]"));
    if (!sequence.empty()) held_[sequence] = Parts{node.outputs.back(), 0, 1, false};
    return true;
  }

  // How often a name is read in a graph and in those inside it.
  static std::size_t uses(const ModelGraph& graph, const std::string& name) {
    auto count = static_cast<std::size_t>(std::ranges::count(graph.outputs, name, &ValueInfo::name));
    for (const ModelNode& node : graph.nodes) {
      count += static_cast<std::size_t>(std::ranges::count(node.inputs, name));
      for (const Attribute& attribute : node.attributes)
        if (const ModelGraph* const inside = subgraph_of(attribute)) count += uses(*inside, name);
    }
    return count;
  }

  [[nodiscard]] static std::vector<std::string> tensors_of(const Held& value) {
    if (const auto* const list = std::get_if<List>(&value)) return list->items;
    if (const auto* const parts = std::get_if<Parts>(&value)) return {parts->tensor};
    const std::string& tensor = std::get<Maybe>(value).tensor;
    return tensor.empty() ? std::vector<std::string>() : std::vector{tensor};
  }

  void present_outputs(std::vector<ModelNote>& notes) {
    result_.other_outputs.clear();
    for (const UnsupportedTensor& output : file_.other_outputs) {
      const Held* const value = held(output.name);
      const std::vector<std::string> items =
          value == nullptr ? std::vector<std::string>() : tensors_of(*value);
      if (items.empty()) {
        result_.other_outputs.push_back(output);
        continue;
      }
      for (const std::string& item : items)
        if (std::ranges::find(result_.outputs, item, &ValueInfo::name) == result_.outputs.end())
          result_.outputs.push_back({.name = item, .shape = {}});
      add_note(notes, {.kind = NoteKind::output_type,
                       .value = output.name,
                       .declared = fmt::format("{}", fmt::join(items, ", ")),
                       .is = output.reason});
    }
  }

  const ModelGraph& file_;
  std::int64_t opset_;
  const Rewriter* around_;
  ModelGraph result_;
  std::map<std::string, Held> held_;
  std::map<std::string, const Tensor*> constants_;
  std::set<std::string, std::less<>> taken_;    // names of values
  std::set<std::string, std::less<>> tensors_;  // of those that are tensors
  std::size_t made_ = 0;
};

}  // namespace

std::optional<ModelGraph> without_sequences(const ModelGraph& file, std::int64_t opset,
                                            std::vector<ModelNote>& notes) {
  if (!has_sequences(file)) return std::nullopt;
  std::vector<ModelNote> made;
  auto rewritten = Rewriter(file, opset, nullptr).run(made);
  if (rewritten)
    for (ModelNote& note : made) add_note(notes, std::move(note));
  return rewritten;
}

}  // namespace driftscope
