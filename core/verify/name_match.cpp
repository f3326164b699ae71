// Compiled for size on the web (cmake/core.cmake).
#include "core/verify/name_match.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "core/base/text.hpp"
#include "core/trace/run_fact.hpp"

namespace driftscope {
namespace {

constexpr std::size_t max_listed = 3;
constexpr std::size_t max_noted = 1000;

/// Graph inputs, then outputs of nodes in their order: what a trace holds, in the order it is made.
std::vector<ValueId> values_in_order(const Graph& graph) {
  std::vector<ValueId> values = graph.inputs;
  for (const Node& node : graph.nodes)
    for (const ValueId id : node.outputs)
      if (id != no_value && !graph.values[id].constant) values.push_back(id);
  return values;
}

/// Indices of the trace's tensors in the order in which they were computed, as far as known.
std::vector<std::size_t> tensors_in_order(const TraceView& trace) {
  std::unordered_map<std::string_view, std::size_t> places;
  for (std::size_t i = 0; i < trace.size(); ++i) places.emplace(trace[i].name, i);
  std::vector<bool> made(trace.size(), false);
  std::vector<std::size_t> outputs;
  for (const NodeRecord& node : trace.about().nodes)
    for (const std::string& name : node.outputs) {
      const auto found = places.find(name);
      if (found == places.end() || made[found->second]) continue;
      made[found->second] = true;
      outputs.push_back(found->second);
    }
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < trace.size(); ++i)
    if (!made[i]) order.push_back(i);
  order.insert(order.end(), outputs.begin(), outputs.end());
  return order;
}

bool fits(const Value& value, const SafetensorsEntry& tensor) {
  if (value.dtype != DType::undefined && value.dtype != tensor.dtype) return false;
  if (!value.shape) return true;
  if (value.shape->size() != tensor.shape.size()) return false;
  for (std::size_t i = 0; i < tensor.shape.size(); ++i)
    if ((*value.shape)[i].known() && (*value.shape)[i].size != tensor.shape[i]) return false;
  return true;
}

using Ids = std::unordered_map<std::string_view, ValueId>;

/// Consecutive tensors without a name in the model, and values without a tensor, between two matches.
struct Gap {
  std::vector<std::size_t> tensors;
  std::vector<ValueId> values;
};

/// Indices in `values` for `tensors`, as early as the order allows; nothing when they do not all fit.
template <class Fits>
std::optional<std::vector<std::size_t>> embedded(std::size_t tensors, std::size_t values, const Fits& fit) {
  std::vector<std::size_t> places;
  std::size_t next = 0;
  for (std::size_t i = 0; i < tensors; ++i) {
    while (next < values && !fit(i, next)) ++next;
    if (next == values) return std::nullopt;
    places.push_back(next++);
  }
  return places;
}

/// A pair is unique if it is the same in the earliest and in the latest possible assignment.
void match_gap(const Graph& graph, const TraceView& trace, Gap gap, NameMatch& match) {
  // Once per dtype and shape: a hundred thousand layers mostly share a few.
  std::map<std::pair<DType, Shape>, bool> has_place;
  const auto fits_somewhere = [&](std::size_t tensor) {
    const auto [entry, is_new] = has_place.try_emplace({trace[tensor].dtype, trace[tensor].shape}, false);
    if (is_new)
      entry->second =
          std::ranges::any_of(gap.values, [&](ValueId id) { return fits(graph.values[id], trace[tensor]); });
    return entry->second;
  };
  std::erase_if(gap.tensors, [&](std::size_t tensor) { return !fits_somewhere(tensor); });
  const std::size_t tensors = gap.tensors.size();
  const std::size_t values = gap.values.size();
  const auto fit = [&](std::size_t i, std::size_t j) {
    return fits(graph.values[gap.values[j]], trace[gap.tensors[i]]);
  };
  const auto earliest = embedded(tensors, values, fit);
  const auto latest = embedded(
      tensors, values, [&](std::size_t i, std::size_t j) { return fit(tensors - 1 - i, values - 1 - j); });
  if (!earliest || !latest) return;
  for (std::size_t i = 0; i < tensors; ++i) {
    const std::size_t place = (*earliest)[i];
    if (values - 1 - (*latest)[tensors - 1 - i] != place) continue;
    const std::string& name = graph.values[gap.values[place]].name;
    match.names[gap.tensors[i]] = name;
    match.by_position.push_back({trace[gap.tensors[i]].name, name});
  }
}

/// The gaps between matching names; nothing when these are in another order than in the graph.
std::optional<std::vector<Gap>> gaps_of(const Graph& graph, const TraceView& trace, const Ids& ids) {
  const std::vector<ValueId> values = values_in_order(graph);
  std::unordered_map<std::string_view, std::size_t> places;
  for (std::size_t i = 0; i < values.size(); ++i) places.emplace(graph.values[values[i]].name, i);
  std::vector<Gap> gaps(1);
  std::size_t next = 0;
  const auto close_at = [&](std::size_t place) {
    for (; next < place; ++next) gaps.back().values.push_back(values[next]);
  };
  for (const std::size_t tensor : tensors_in_order(trace)) {
    const auto found = places.find(trace[tensor].name);
    if (found == places.end()) {
      // A recorded weight is neither unmatched nor the output of a node.
      if (!ids.contains(trace[tensor].name)) gaps.back().tensors.push_back(tensor);
      continue;
    }
    if (found->second < next) return std::nullopt;
    close_at(found->second);
    next = found->second + 1;
    gaps.emplace_back();
  }
  close_at(values.size());
  return gaps;
}

std::string first_few(const std::vector<std::string>& texts, std::size_t count) {
  std::string list;
  for (std::size_t i = 0; i < std::min(texts.size(), max_listed); ++i) list += (i > 0 ? ", " : "") + texts[i];
  return count > max_listed ? list + ", …" : list;
}

std::string match_text(const std::vector<std::string>& pairs, std::size_t pair_count,
                       const std::vector<std::string>& unmatched, std::size_t unmatched_count) {
  std::string text;
  if (pair_count > 0)
    text = fmt::format("{} value{} matched by position and shape ({})", pair_count,
                       pair_count == 1 ? "" : "s", first_few(pairs, pair_count));
  if (unmatched_count > 0)
    text += fmt::format("{}{} tensor{} of the trace {} of the model ({})", text.empty() ? "" : "; ",
                        unmatched_count, unmatched_count == 1 ? "" : "s",
                        unmatched_count == 1 ? "is not a value" : "are not values",
                        first_few(unmatched, unmatched_count));
  return text;
}

std::vector<std::string> pair_texts(const NameMatch& match) {
  std::vector<std::string> texts;
  for (const RenamedValue& one : match.by_position) {
    if (texts.size() == max_noted) break;
    texts.push_back(in_quotes(one.traced) + " is " + in_quotes(one.value));
  }
  return texts;
}

std::vector<std::string> unmatched_texts(const NameMatch& match) {
  std::vector<std::string> texts;
  for (const std::string& one : match.unmatched) {
    if (texts.size() == max_noted) break;
    texts.push_back(in_quotes(one));
  }
  return texts;
}

}  // namespace

NameMatch match_names(const Graph& graph, const TraceView& trace) {
  NameMatch match;
  Ids ids;
  for (ValueId id = 0; id < graph.values.size(); ++id) ids.emplace(graph.values[id].name, id);
  bool all_known = true;
  for (std::size_t i = 0; i < trace.size(); ++i) {
    match.names.push_back(trace[i].name);
    all_known = all_known && ids.contains(trace[i].name);
  }
  if (all_known) return match;
  if (trace.about().model_sha256.empty())
    if (auto gaps = gaps_of(graph, trace, ids))
      for (Gap& gap : *gaps) match_gap(graph, trace, std::move(gap), match);
  for (const std::string& name : match.names)
    if (!ids.contains(name)) match.unmatched.push_back(name);
  return match;
}

void rename_values(const Graph& graph, const NameMatch& match, Trace& trace) {
  if (match.plain()) return;
  std::unordered_map<std::string, std::string> names;
  for (const RenamedValue& one : match.by_position) names[one.traced] = one.value;
  for (std::size_t i = 0; i < trace.tensors.size(); ++i) trace.tensors[i].name = match.names[i];
  std::unordered_map<std::string_view, const Node*> makers;
  for (const Node& node : graph.nodes)
    for (const ValueId id : node.outputs)
      if (id != no_value) makers.emplace(graph.values[id].name, &node);
  for (NodeRecord& record : trace.nodes)
    for (std::string& output : record.outputs) {
      const auto renamed = names.find(output);
      if (renamed == names.end()) continue;
      output = renamed->second;
      if (const auto maker = makers.find(output); maker != makers.end()) record.name = maker->second->name;
    }
  if (!match.by_position.empty())
    set_run_fact(trace, "matched_by_position",
                 {{"count", match.by_position.size()}, {"values", pair_texts(match)}});
  if (!match.unmatched.empty())
    set_run_fact(trace, "unmatched",
                 {{"count", match.unmatched.size()}, {"tensors", unmatched_texts(match)}});
}

void rename_values(const NameMatch& match, TraceView& trace) {
  for (std::size_t i = 0; i < match.names.size(); ++i) trace.rename(i, match.names[i]);
}

std::string name_match_text(const NameMatch& match) {
  return match_text(pair_texts(match), match.by_position.size(), unmatched_texts(match),
                    match.unmatched.size());
}

std::string name_match_text(const Trace& trace) {
  const auto read = [&](const char* key, const char* list, std::vector<std::string>& texts) -> std::size_t {
    const auto object = run_fact_json(trace, key);
    if (!object || !object->is_object()) return 0;
    const auto count = object->find("count");
    const auto entries = object->find(list);
    if (count == object->end() || !count->is_number_unsigned() || entries == object->end() ||
        !entries->is_array())
      return 0;
    for (const auto& entry : *entries)
      if (entry.is_string() && printable(entry.get_ref<const std::string&>()) && texts.size() < max_listed)
        texts.push_back(entry.get<std::string>());
    return count->get<std::size_t>();
  };
  std::vector<std::string> pairs;
  std::vector<std::string> unmatched;
  const std::size_t pair_count = read("matched_by_position", "values", pairs);
  const std::size_t unmatched_count = read("unmatched", "tensors", unmatched);
  return match_text(pairs, pair_count, unmatched, unmatched_count);
}

}  // namespace driftscope
