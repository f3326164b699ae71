#include "core/repro/parameter_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>

#include "core/base/sort_stably.hpp"
#include "core/repro/excerpt_edit.hpp"
#include "core/repro/parameter_names.hpp"
#include "core/verify/verdict.hpp"

namespace driftscope {
namespace {

/// The excerpt with another value of the parameter; nothing where that is not one.
using WithValue = std::function<std::optional<Excerpt>(std::int64_t)>;

struct Parameter {
  std::string name;
  int order = 0;
  std::int64_t own = 0;
  std::int64_t most = 0;  ///< the largest value that is tried
  WithValue make;
};

/// Integers of an attribute that is one or a list of them.
const std::vector<std::int64_t>* list_of(const Node& node, std::string_view name) {
  const Attribute* const attribute = node.attribute(name);
  return attribute == nullptr ? nullptr : std::get_if<std::vector<std::int64_t>>(&attribute->value);
}

void set_attribute(Node& node, const std::string& name, Attribute::Value value) {
  auto& attributes = node.attributes.edit();
  const auto found = std::ranges::find(attributes, name, &Attribute::name);
  if (found == attributes.end())
    attributes.push_back({name, std::move(value)});
  else
    found->value = std::move(value);
}

/// What repeats the sizes of weights: a convolution's kernel_shape may be left out.
void drop_kernel_shape(Excerpt& excerpt) {
  for (Node& node : excerpt.graph.nodes)
    if (node.op_type.find("Conv") != std::string::npos)
      std::erase_if(node.attributes.edit(), [](const Attribute& one) { return one.name == "kernel_shape"; });
}

WithValue with_size(const Excerpt& whole, std::vector<ExcerptAxis> axes, std::int64_t own, bool with_groups,
                    ThreadPool& threads) {
  return [&whole, axes = std::move(axes), own, with_groups,
          &threads](std::int64_t size) -> std::optional<Excerpt> {
    Excerpt made = whole;
    for (const ExcerptAxis& one : axes) {
      Tensor* const tensor = tensor_of(made, one.value);
      auto other = with_axis_of(*tensor, one.axis, size);
      if (!other) return std::nullopt;
      *tensor = *std::move(other);
      set_shape(made, one.value, tensor->shape());
    }
    drop_kernel_shape(made);
    if (with_groups && !follow_groups(made, own, size)) return std::nullopt;
    if (!complete(made, threads)) return std::nullopt;
    return made;
  };
}

/// Sizes that change together: one axis where the operator takes it, else two or all of the same size.
class Sizes {
 public:
  Sizes(const Excerpt& excerpt, ThreadPool& threads) : excerpt_(excerpt), threads_(threads) {
    for (const ValueId id : given_values(excerpt)) {
      const Shape& shape = tensor_of(excerpt, id)->shape();
      for (std::size_t axis = 0; axis < shape.size(); ++axis)
        if (shape[axis] > 0) by_size_[shape[axis]].push_back({id, axis});
    }
  }

  std::vector<Parameter> all() {
    for (const auto& [size, axes] : by_size_) {
      std::vector<bool> used(axes.size());
      for (std::size_t a = 0; a < axes.size(); ++a) used[a] = add({axes[a]}, size);
      for (std::size_t a = 0; a < axes.size(); ++a)
        for (std::size_t b = a + 1; b < axes.size(); ++b)
          if (!used[a] && !used[b] && add({axes[a], axes[b]}, size)) used[a] = used[b] = true;
      std::vector<ExcerptAxis> rest;
      for (std::size_t a = 0; a < axes.size(); ++a)
        if (!used[a]) rest.push_back(axes[a]);
      if (rest.size() > 2) add(rest, size);
    }
    return std::move(parameters_);
  }

 private:
  bool add(const std::vector<ExcerptAxis>& axes, std::int64_t size) {
    for (const bool with_groups : {false, true}) {
      WithValue make = with_size(excerpt_, axes, size, with_groups, threads_);
      if (!make(size + 1) && !(size > 1 && make(size - 1))) continue;
      const std::string name = size_name(excerpt_, axes);
      parameters_.push_back(
          {name, size_order(name), size, std::max<std::int64_t>(2 * size, 16), std::move(make)});
      return true;
    }
    return false;
  }

  const Excerpt& excerpt_;
  ThreadPool& threads_;
  std::map<std::int64_t, std::vector<ExcerptAxis>> by_size_;
  std::vector<Parameter> parameters_;
};

/// Attributes with a number for each spatial axis, all of them set to the same one.
std::vector<Parameter> attribute_parameters(const Excerpt& excerpt, ThreadPool& threads) {
  constexpr std::pair<const char*, const char*> known[] = {
      {"strides", "stride"}, {"dilations", "dilation"}, {"kernel_shape", "kernel size"}};
  constexpr int order = 6;  // among the sizes
  constexpr std::int64_t most = 5;
  std::vector<Parameter> list;
  for (const auto& [attribute, name] : known) {
    const auto* const own = list_of(excerpt.node(), attribute);
    if (own == nullptr || own->empty() ||
        std::ranges::any_of(*own, [&](std::int64_t one) { return one != own->front(); }))
      continue;
    list.push_back({name, order, own->front(), std::max(most, own->front() + 1),
                    [&excerpt, &threads, changed = std::string(attribute),
                     count = own->size()](std::int64_t value) -> std::optional<Excerpt> {
                      Excerpt made = excerpt;
                      set_attribute(made.graph.nodes.back(), changed,
                                    std::vector<std::int64_t>(count, value));
                      if (!complete(made, threads)) return std::nullopt;
                      return made;
                    }});
  }
  return list;
}

/// Other values, those that tell most first: the neighbours, the next multiple of 4, then ever further away.
std::vector<std::int64_t> other_values(const Parameter& parameter) {
  const std::int64_t own = parameter.own;
  std::vector<std::int64_t> values = {own + 1, own - 1, own % 4 == 0 ? own + 2 : own + 4 - own % 4};
  for (std::int64_t distance = 2; distance <= parameter.most; ++distance) {
    values.push_back(own - distance);
    values.push_back(own + distance);
  }
  std::set<std::int64_t> seen = {own};
  std::erase_if(values, [&](std::int64_t value) {
    return value < 1 || value > parameter.most || !seen.insert(value).second;
  });
  return values;
}

ParameterRow row_of(std::int64_t value, const LayerVerdict& verdict) {
  ParameterRow row{.value = value,
                   .wrong = is_bad(verdict.verdict),
                   .elements = verdict.metrics.elements,
                   .largest_error = verdict.metrics.max_abs};
  if (row.wrong && verdict.explanation) row.wrong_elements = verdict.explanation->wrong;
  return row;
}

/// One parameter under way.
struct Tried {
  Parameter parameter;
  std::vector<std::int64_t> open;  ///< values, the next one last
  ParameterTable table;
};

class Variation {
 public:
  Variation(const Excerpt& excerpt, const RunExcerpt& run, const VaryOptions& options, ThreadPool& threads)
      : excerpt_(excerpt), run_(run), options_(options), threads_(threads) {}

  Result<std::optional<ParameterTable>> table() {
    std::vector<Parameter> parameters = Sizes(excerpt_, threads_).all();
    for (Parameter& one : attribute_parameters(excerpt_, threads_)) parameters.push_back(std::move(one));
    sort_stably(parameters, [](const Parameter& one) { return one.order; });
    constexpr int probes = 3;
    Tried* best = nullptr;
    for (Parameter& one : parameters) {
      if (done()) break;
      std::vector<std::int64_t> values = other_values(one);
      std::ranges::reverse(values);
      ParameterTable table{.parameter = one.name, .own = one.own};
      table.rows.push_back(row_of(one.own, excerpt_.verdict));
      tried_.push_back(std::make_unique<Tried>(Tried{std::move(one), std::move(values), std::move(table)}));
      Tried& now = *tried_.back();
      for (int i = 0; i < probes && !now.table.separates(); ++i) DRIFTSCOPE_CHECK(next(now));
      if (now.table.separates()) {
        best = &now;
        break;
      }
    }
    if (best == nullptr && !tried_.empty()) best = tried_.front().get();
    if (best == nullptr) return std::optional<ParameterTable>();
    while (!done() && !best->open.empty()) DRIFTSCOPE_CHECK(next(*best));
    if (best->table.rows.size() < 2) return std::optional<ParameterTable>();
    return std::optional(finished(*best));
  }

 private:
  [[nodiscard]] bool done() const { return stopped_ || runs_ >= options_.most_runs; }

  /// Runs the next value that the reference and the target take.
  Status next(Tried& one) {
    while (!one.open.empty() && !done()) {
      const std::int64_t value = one.open.back();
      one.open.pop_back();
      auto candidate = one.parameter.make(value);
      if (!candidate) continue;
      ++runs_;
      if (options_.go_on && !options_.go_on(fmt::format("{} {}", one.parameter.name, value), runs_))
        stopped_ = true;
      if (stopped_) return {};
      auto verdict = run_(*candidate);
      if (!verdict.ok()) {
        const ErrorKind kind = verdict.error().kind;
        if (kind == ErrorKind::bad_input || kind == ErrorKind::unsupported) continue;
        return std::move(verdict).error();
      }
      if (verdict->verdict == Verdict::unjudged) continue;
      one.table.rows.push_back(row_of(value, *verdict));
      return {};
    }
    return {};
  }

  ParameterTable finished(Tried& best) {
    ParameterTable table = std::move(best.table);
    std::ranges::sort(table.rows, {}, &ParameterRow::value);
    table.runs = runs_;
    for (const auto& other : tried_)
      if (other.get() != &best && other->table.rows.size() > 1 && !other->table.separates())
        table.no_effect.push_back(other->parameter.name);
    return table;
  }

  const Excerpt& excerpt_;
  const RunExcerpt& run_;
  const VaryOptions& options_;
  ThreadPool& threads_;
  std::vector<std::unique_ptr<Tried>> tried_;
  std::int64_t runs_ = 0;
  bool stopped_ = false;
};

std::string value_list(const ParameterTable& table, bool wrong) {
  std::string text;
  for (const ParameterRow& row : table.rows)
    if (row.wrong == wrong) text += fmt::format("{}{}", text.empty() ? "" : ", ", row.value);
  return text;
}

}  // namespace

bool ParameterTable::separates() const {
  return std::ranges::any_of(rows, [](const ParameterRow& row) { return !row.wrong; });
}

std::string parameter_text(const ParameterTable& table) {
  // "6, 10, 14 input channels", "stride 2, 4"
  const auto named = [&](const std::string& values) {
    return table.parameter.ends_with("s") ? values + " " + table.parameter : table.parameter + " " + values;
  };
  if (!table.separates()) return "wrong for all values tried: " + named(value_list(table, true));
  return fmt::format("wrong for {}, right for {}", named(value_list(table, true)), value_list(table, false));
}

Result<std::optional<ParameterTable>> vary_parameters(const Excerpt& excerpt, const RunExcerpt& run,
                                                      const VaryOptions& options, ThreadPool& threads) {
  return Variation(excerpt, run, options, threads).table();
}

}  // namespace driftscope
