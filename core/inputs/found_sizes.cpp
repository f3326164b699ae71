#include "core/inputs/found_sizes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "core/base/checked.hpp"
#include "core/base/sort_stably.hpp"
#include "core/eval/infer_shapes.hpp"
#include "core/inputs/input_sizes.hpp"
#include "core/inputs/name_patterns.hpp"
#include "core/inputs/size_roles.hpp"
#include "core/inputs/value_rules.hpp"

namespace driftscope {
namespace {

// A choice that makes a larger value than this is none: what the model itself fixes may be larger.
constexpr std::int64_t max_found_elements = std::int64_t{1} << 28;
// A try takes about as long as the graph is large: so many nodes in all, within some seconds.
constexpr std::size_t max_nodes_tried = 400'000;
constexpr std::size_t most_tries = 600;
constexpr std::size_t fewest_tries = 40;
constexpr std::size_t max_hints = 48;

struct Place {
  std::size_t input;  // of graph.inputs
  std::size_t axis;
};

/// One size to find, wherever it occurs.
struct Variable {
  std::string symbol;
  std::vector<Place> places;
  const SizeRole* role = nullptr;
  std::vector<std::int64_t> sizes;  // to try, in this order
};

bool is_sum(const Variable& variable) { return variable.symbol.find('+') != std::string::npos; }

/// Sizes of weights, which an open size may have to agree with.
std::vector<std::int64_t> sizes_of_weights(const Graph& graph) {
  std::map<std::int64_t, std::size_t> often;
  for (const Value& value : graph.values)
    if (value.constant)
      for (const std::int64_t size : value.constant->shape())
        if (size > 1) ++often[size];
  std::vector<std::pair<std::size_t, std::int64_t>> ranked;
  for (const auto& [size, count] : often) ranked.emplace_back(count, size);
  std::ranges::sort(ranked, [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  std::vector<std::int64_t> sizes;
  for (std::size_t i = 0; i < std::min(ranked.size(), max_hints); ++i) sizes.push_back(ranked[i].second);
  return sizes;
}

std::vector<Variable> variables_of(const Graph& graph) {
  std::vector<Variable> variables;
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    const Value& input = graph.values[graph.inputs[i]];
    for (std::size_t axis = 0; axis < input.shape->size(); ++axis) {
      const Dimension& dimension = (*input.shape)[axis];
      if (dimension.known()) continue;
      const bool named = names_a_size(dimension.symbol);
      const auto same = [&](const Variable& other) { return named && other.symbol == dimension.symbol; };
      const auto found = std::ranges::find_if(variables, same);
      if (found != variables.end()) {
        found->places.push_back({i, axis});
        continue;
      }
      Variable one{named ? dimension.symbol : "", {{i, axis}}, nullptr, {}};
      one.role = &role_of({input, axis, lower_case(input.name), lower_case(one.symbol)});
      variables.push_back(std::move(one));
    }
  }
  // A sum comes after what it is the sum of, a batch first: it is nearly always 1.
  sort_stably(variables, [](const Variable& variable) {
    return is_sum(variable) ? 2 : variable.role->name == "batch" ? 0 : 1;
  });
  const auto hints = sizes_of_weights(graph);
  for (Variable& variable : variables) {
    const auto add = [&](std::span<const std::int64_t> sizes) {
      for (const std::int64_t size : sizes)
        if (std::ranges::find(variable.sizes, size) == variable.sizes.end()) variable.sizes.push_back(size);
    };
    add(variable.role->sizes);
    add(hints);
    add(other_sizes());
  }
  return variables;
}

/// What is known of a number beside its size, as a sample rate: it may choose the branch of an If.
Graph with_fixed_scalars(Graph graph) {
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    Value& value = graph.values[graph.inputs[i]];
    const auto shape = value.static_shape();
    if (!shape || element_count(*shape) != 1) continue;
    const auto fixed = fixed_values({graph, i});
    if (!fixed || fixed->numbers.size() != 1) continue;
    auto tensor = Tensor::make(value.dtype, *shape);
    if (!tensor.ok()) continue;
    const bool whole = visit_plain_number(value.dtype, [&]<class E>() {
      if constexpr (E::kind != ElementKind::floating)
        tensor->mutable_values<typename E::Stored>()[0] = static_cast<typename E::Stored>(fixed->numbers[0]);
    });
    if (whole && !is_floating(value.dtype)) value.constant = *std::move(tensor);
  }
  return graph;
}

/// Whether every If has a branch whose shapes work out. The rule of If takes one that does not for one that
/// never runs, and leaves its graph as it was.
bool have_fitting_branches(const Graph& before, const Graph& bound) {
  for (std::size_t n = 0; n < bound.nodes.size(); ++n) {
    const Node& node = bound.nodes[n];
    bool fits = node.op_type != "If" || !node.domain.empty();
    for (std::size_t s = 0; s < node.subgraphs.size(); ++s) {
      const Graph& inside = *node.subgraphs[s].graph;
      const Graph& inside_before = *before.nodes[n].subgraphs[s].graph;
      fits = fits || (&inside != &inside_before && have_fitting_branches(inside_before, inside));
    }
    if (!fits) return false;
  }
  return true;
}

class Search {
 public:
  explicit Search(const Graph& graph)
      : graph_(graph),
        variables_(variables_of(graph)),
        chosen_(variables_.size(), -1),
        tries_left_(std::clamp(max_nodes_tried / (graph.nodes.size() + 1), fewest_tries, most_tries)) {}

  /// Choices by the number of steps that they are away from the most ordinary ones.
  Result<FoundSizes> run() {
    std::size_t farthest = 0;
    for (const Variable& variable : variables_) farthest += variable.sizes.size() + 2;
    for (std::size_t away = 0; away <= farthest && tries_left_ > 0 && steps_left_ > 0; ++away)
      if (choose(0, away)) return *std::move(found_);
    // Better than nothing: a branch whose types the rules cannot tell may run all the same.
    if (found_ && !found_->shapes.empty()) return *std::move(found_);
    return first_error_ ? Result<FoundSizes>(*first_error_) : Result<FoundSizes>(bad_input("no size fits"));
  }

 private:
  Graph with_chosen(std::size_t count) const {
    Graph graph = graph_;
    std::map<std::string, std::int64_t> symbols;
    for (std::size_t v = 0; v < count; ++v) {
      if (!variables_[v].symbol.empty()) symbols[variables_[v].symbol] = chosen_[v];
      for (const Place& place : variables_[v].places)
        (*graph.values[graph.inputs[place.input]].shape)[place.axis] = {chosen_[v], ""};
    }
    for (Value& value : graph.values)
      if (value.shape)
        for (Dimension& dimension : *value.shape)
          if (const auto known = symbols.find(dimension.symbol); !dimension.known() && known != symbols.end())
            dimension = {known->second, ""};
    return graph;
  }

  std::vector<Shape> shapes() const {
    std::vector<Shape> shapes;
    for (const ValueId id : graph_.inputs) {
      Shape& shape = shapes.emplace_back();
      for (const Dimension& dimension : *graph_.values[id].shape) shape.push_back(dimension.size);
    }
    for (std::size_t v = 0; v < variables_.size(); ++v)
      for (const Place& place : variables_[v].places) shapes[place.input][place.axis] = chosen_[v];
    return shapes;
  }

  /// "past_sequence_length + 1", of sizes that are chosen already.
  std::optional<std::int64_t> sum(std::size_t count) const {
    std::string_view text = variables_[count].symbol;
    std::int64_t total = 0;
    while (true) {
      const std::size_t plus = text.find('+');
      std::string_view part = text.substr(0, plus);
      while (part.starts_with(' ')) part.remove_prefix(1);
      while (part.ends_with(' ')) part.remove_suffix(1);
      std::int64_t size = -1;
      std::from_chars(part.data(), part.data() + part.size(), size);
      for (std::size_t v = 0; v < count; ++v)
        if (variables_[v].symbol == part) size = chosen_[v];
      const auto next = size < 0 ? std::nullopt : checked_add(total, size);
      if (!next) return std::nullopt;
      total = *next;
      if (plus == std::string_view::npos) return total;
      text.remove_prefix(plus + 1);
    }
  }

  /// What follows from choices already made comes first.
  std::vector<std::int64_t> sizes_to_try(std::size_t v) const {
    const Variable& variable = variables_[v];
    std::vector<std::int64_t> first;
    if (is_sum(variable))
      if (const auto total = sum(v)) first.push_back(*total);
    std::int64_t past = -1;
    for (std::size_t before = 0; before < v; ++before) {
      const Variable& other = variables_[before];
      if (other.role->name == "past") past = chosen_[before];
      // Height and width, ids and their mask.
      if (other.role == variable.role) first.push_back(chosen_[before]);
    }
    if (past >= 0 && variable.role->name != "past" && variable.role->name != "batch")
      if (const auto steps = new_steps(v); steps >= 0) {
        const bool whole =
            matches_any("*total* *mask* *kv*", lower_case(variable.symbol)) || on_mask(variable);
        first.insert(whole ? first.begin() : first.end(), past + steps);
      }
    std::vector<std::int64_t> sizes;
    for (const auto& from : {first, variable.sizes})
      for (const std::int64_t size : from)
        if (std::ranges::find(sizes, size) == sizes.end()) sizes.push_back(size);
    return sizes;
  }

  bool on_mask(const Variable& variable) const {
    return std::ranges::all_of(variable.places, [&](const Place& place) {
      return matches_any("*mask*", lower_case(graph_.values[graph_.inputs[place.input]].name));
    });
  }

  /// How many tokens are new, beside a cache; −1: not known.
  std::int64_t new_steps(std::size_t count) const {
    for (std::size_t v = 0; v < count; ++v)
      if (variables_[v].role->name == "tokens") return chosen_[v];
    for (const ValueId id : graph_.inputs) {
      const SymbolicShape& shape = *graph_.values[id].shape;
      if (graph_.values[id].dtype == DType::int64 && shape.size() == 2 && shape[1].known())
        return shape[1].size;
    }
    return -1;
  }

  bool choose(std::size_t v, std::size_t away) {
    if (steps_left_ == 0) return false;
    --steps_left_;
    if (v == variables_.size()) return away == 0 && fits();
    const std::vector<std::int64_t> sizes = sizes_to_try(v);
    const bool last = v + 1 == variables_.size();
    for (std::size_t i = last ? away : 0; i <= away && tries_left_ > 0; ++i) {
      if (i >= sizes.size()) break;
      chosen_[v] = sizes[i];
      if (!last && prunes() && !may_fit(v + 1)) continue;
      if (choose(v + 1, away - i)) return true;
    }
    return false;
  }

  /// Whether choices are judged before all are made: not the most ordinary ones, which nearly always fit, and
  /// not where a rule finds a contradiction, which is none, while no size is known.
  bool prunes() {
    if (!first_error_) return false;
    if (!prunes_) prunes_ = infer_shapes(with_chosen(0), Declared::forgotten).ok();
    return *prunes_;
  }

  /// Whether the first choices contradict nothing by themselves.
  bool may_fit(std::size_t count) {
    const std::vector<std::int64_t> prefix(chosen_.begin(),
                                           chosen_.begin() + static_cast<std::ptrdiff_t>(count));
    const auto known = prefixes_.find(prefix);
    if (known != prefixes_.end()) return known->second;
    --tries_left_;
    const auto inferred = infer_shapes(with_chosen(count), Declared::forgotten);
    if (!inferred.ok() && !first_error_) first_error_ = inferred.error();
    return prefixes_[prefix] = inferred.ok();
  }

  bool fits() {
    if (tries_left_ > 0) --tries_left_;
    std::vector<Shape> shapes = this->shapes();
    auto bound = bind_shapes(with_fixed_scalars(with_chosen(variables_.size())), shapes);
    if (!bound.ok()) {
      if (!first_error_) first_error_ = in_context(bound.error(), choice_text());
      return false;
    }
    if (!is_reasonable(*bound)) return false;
    const bool branches_fit = have_fitting_branches(graph_, *bound);
    if (!branches_fit && found_) return false;
    found_.emplace();
    found_->shapes = std::move(shapes);
    found_->bound = *std::move(bound);
    for (std::size_t v = 0; v < variables_.size(); ++v) {
      const std::string& input = graph_.values[graph_.inputs[variables_[v].places[0].input]].name;
      found_->open.push_back({variables_[v].symbol, input, chosen_[v]});
    }
    return branches_fit;
  }

  /// Not where outputs are empty, or a value is huge.
  bool is_reasonable(const Graph& bound) {
    for (std::size_t id = 0; id < bound.values.size(); ++id) {
      const auto shape = bound.values[id].static_shape();
      const auto elements = shape ? checked_product(*shape) : std::optional<std::int64_t>(1);
      if (elements && *elements <= max_found_elements) continue;
      if (graph_.values[id].static_shape()) continue;
      if (!first_error_)
        first_error_ = limit_error(fmt::format("{}: {} would have more than {} elements", choice_text(),
                                               bound.values[id].name, max_found_elements));
      return false;
    }
    for (const ValueId id : bound.outputs) {
      const auto shape = bound.values[id].static_shape();
      if (!shape || std::ranges::find(*shape, 0) == shape->end()) continue;
      if (!first_error_)
        first_error_ =
            bad_input(fmt::format("{}: the output {} would be empty", choice_text(), bound.values[id].name));
      return false;
    }
    return true;
  }

  std::string choice_text() const {
    std::string text;
    const std::vector<Shape> shapes = this->shapes();
    for (std::size_t i = 0; i < shapes.size(); ++i)
      text += fmt::format("{}{} {}", text.empty() ? "with " : ", ", graph_.values[graph_.inputs[i]].name,
                          shape_text(shapes[i]));
    return text;
  }

  const Graph& graph_;
  std::vector<Variable> variables_;
  std::vector<std::int64_t> chosen_;
  std::map<std::vector<std::int64_t>, bool> prefixes_;
  std::size_t tries_left_;
  std::size_t steps_left_ = 200'000;  // of the enumeration, which costs little
  std::optional<bool> prunes_;
  std::optional<Error> first_error_;
  std::optional<FoundSizes> found_;  // also one with a branch that does not fit, until there is a better one
};

std::string inputs_with_types(const Graph& graph) {
  std::string text;
  for (const ValueId id : graph.inputs) text += "\n  " + typed_input_text(graph.values[id]);
  return text;
}

}  // namespace

std::string command_to_fill_in(const Graph& graph, const std::string& model) {
  std::string text = "driftscope run " + model;
  std::set<std::string> seen;
  for (const ValueId id : graph.inputs) {
    const Value& input = graph.values[id];
    bool unnamed = !input.shape;
    for (const Dimension& dimension : input.shape.value_or(SymbolicShape())) {
      if (dimension.known()) continue;
      if (!names_a_size(dimension.symbol))
        unnamed = true;
      else if (seen.insert(dimension.symbol).second)
        text += dimension.symbol.find_first_of(" '\"\\$()*;&|<>") == std::string::npos
                    ? fmt::format(" --dim {}=…", dimension.symbol)
                    : fmt::format(" --dim \"{}=…\"", dimension.symbol);
    }
    if (!unnamed) continue;
    std::string shape;
    for (const Dimension& dimension : input.shape.value_or(SymbolicShape()))
      shape += (shape.empty() ? "" : "x") +
               (dimension.known() ? std::to_string(dimension.size) : std::string("…"));
    text += fmt::format(" --input-shape {}={}", input.name, input.shape ? shape : "…");
  }
  return text;
}

Result<FoundSizes> find_sizes(const Graph& graph, const std::string& model) {
  bool open = false;
  for (const ValueId id : graph.inputs) {
    const Value& input = graph.values[id];
    if (!input.shape)
      return bad_input(
          fmt::format("input {}: the model does not say its shape; say it with --input-shape {}=…, or give "
                      "the input with "
                      "--input. The model's inputs:{}",
                      input.name, input.name, inputs_with_types(graph)));
    open = open || !input.static_shape();
  }
  if (!open) {
    FoundSizes fixed;
    for (const ValueId id : graph.inputs) fixed.shapes.push_back(*graph.values[id].static_shape());
    // Whatever is wrong with a model of fixed sizes is said when it runs.
    auto bound = bind_shapes(graph, fixed.shapes);
    fixed.bound = bound.ok() ? *std::move(bound) : graph;
    return fixed;
  }
  auto found = Search(graph).run();
  if (found.ok()) return found;
  return bad_input(fmt::format(
      "no ordinary size fits all open sizes of the inputs ({}). The model's inputs:{}\nSay the sizes:\n  {}",
      found.error().message, inputs_with_types(graph), command_to_fill_in(graph, model)));
}

}  // namespace driftscope
