#include "core/repro/reduce.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "core/model/element.hpp"
#include "core/model/tensor_elements.hpp"
#include "core/repro/excerpt_edit.hpp"
#include "core/verify/verdict.hpp"

namespace driftscope {
namespace {

/// A smaller excerpt, made when it is tried.
struct Shrink {
  std::string text;
  std::function<std::optional<Excerpt>(const Excerpt&)> make;
};

std::string axis_text(const Excerpt& excerpt, const std::vector<ExcerptAxis>& axes) {
  std::string text;
  for (const ExcerptAxis& one : axes)
    text += fmt::format("{}axis {} of {}", text.empty() ? "" : ", ", one.axis,
                        excerpt.graph.values[one.value].name);
  return text;
}

enum class Groups { stay, follow };

Shrink crop(const Excerpt& excerpt, std::vector<ExcerptAxis> axes, std::int64_t from, std::int64_t to,
            bool last, Groups groups = Groups::stay) {
  std::string text =
      fmt::format("{} from {} to {}{}{}", axis_text(excerpt, axes), from, to, last ? ", the last ones" : "",
                  groups == Groups::follow ? ", and as many groups" : "");
  return {std::move(text),
          [axes = std::move(axes), from, to, last, groups](const Excerpt& whole) -> std::optional<Excerpt> {
            Excerpt made = whole;
            if (groups == Groups::follow && !follow_groups(made, from, to)) return std::nullopt;
            for (const ExcerptAxis& one : axes) {
              Tensor* const tensor = tensor_of(made, one.value);
              if (tensor == nullptr || one.axis >= tensor->shape().size()) return std::nullopt;
              if (tensor->shape()[one.axis] <= to) return std::nullopt;
              auto smaller = with_axis_of(*tensor, one.axis, to, last);
              if (!smaller) return std::nullopt;
              *tensor = *std::move(smaller);
              set_shape(made, one.value, tensor->shape());
            }
            return made;
          }};
}

/// Sizes by which operators relate their inputs are equal: each axis alone, and with all others of its size,
/// in every combination of two or of all. What does not fit the operator is refused by its reference.
std::vector<Shrink> smaller_sizes(const Excerpt& excerpt) {
  std::map<std::int64_t, std::vector<ExcerptAxis>, std::greater<>> by_size;
  for (const ValueId id : given_values(excerpt)) {
    const Shape& shape = tensor_of(excerpt, id)->shape();
    for (std::size_t axis = 0; axis < shape.size(); ++axis)
      if (shape[axis] > 1) by_size[shape[axis]].push_back({id, axis});
  }
  std::vector<Shrink> list;
  for (const auto& [size, axes] : by_size) {
    std::vector<std::vector<ExcerptAxis>> groups;
    if (axes.size() > 2) groups.push_back(axes);
    for (std::size_t a = 0; a < axes.size(); ++a) {
      groups.push_back({axes[a]});
      for (std::size_t b = a + 1; b < axes.size(); ++b) groups.push_back({axes[a], axes[b]});
    }
    // Large steps first; a fault that begins at a size is reached in few.
    std::set<std::int64_t> sizes = {1, size / 4, size / 2, size - size / 8, size - size / 32, size - 1};
    sizes.erase(0);
    sizes.erase(size);
    for (const std::vector<ExcerptAxis>& group : groups)
      for (const std::int64_t to : sizes) {
        if (group.size() > 1) list.push_back(crop(excerpt, group, size, to, false, Groups::follow));
        list.push_back(crop(excerpt, group, size, to, false));
        if (to * 2 <= size) list.push_back(crop(excerpt, group, size, to, true));
      }
  }
  return list;
}

std::vector<Shrink> fewer_attributes(const Excerpt& excerpt) {
  std::vector<Shrink> list;
  for (std::size_t n = 0; n < excerpt.graph.nodes.size(); ++n)
    for (const Attribute& attribute : excerpt.graph.nodes[n].attributes)
      list.push_back({attribute.name + " left out",
                      [n, name = attribute.name](const Excerpt& whole) -> std::optional<Excerpt> {
                        Excerpt made = whole;
                        std::erase_if(made.graph.nodes[n].attributes.edit(),
                                      [&](const Attribute& one) { return one.name == name; });
                        return made;
                      }});
  return list;
}

/// Without values that nothing reads any more.
void drop_unread(Excerpt& excerpt) {
  std::set<ValueId> read;
  for (const Node& node : excerpt.graph.nodes) read.insert(node.inputs.begin(), node.inputs.end());
  for (ValueId id = 0; id < excerpt.graph.values.size(); ++id)
    if (!read.contains(id)) excerpt.graph.values[id].constant.reset();
  std::erase_if(excerpt.graph.inputs, [&](ValueId id) { return !read.contains(id); });
  std::erase_if(excerpt.inputs, [&](const NamedTensor& input) {
    return std::ranges::none_of(excerpt.graph.inputs,
                                [&](ValueId id) { return excerpt.graph.values[id].name == input.name; });
  });
}

std::vector<Shrink> fewer_inputs(const Excerpt& excerpt) {
  std::vector<Shrink> list;
  for (std::size_t n = 0; n < excerpt.graph.nodes.size(); ++n) {
    const Node& node = excerpt.graph.nodes[n];
    for (std::size_t i = node.inputs.size(); i-- > 1;) {
      if (node.inputs[i] == no_value) continue;
      list.push_back({excerpt.graph.values[node.inputs[i]].name + " left out",
                      [n, i](const Excerpt& whole) -> std::optional<Excerpt> {
                        Excerpt made = whole;
                        std::vector<ValueId>& inputs = made.graph.nodes[n].inputs;
                        inputs[i] = no_value;
                        while (!inputs.empty() && inputs.back() == no_value) inputs.pop_back();
                        drop_unread(made);
                        return made;
                      }});
    }
  }
  return list;
}

/// Numbers that are easier to read, the plainest first.
std::vector<Shrink> plainer_values(const Excerpt& excerpt) {
  struct Plain {
    const char* text;
    double (*of)(double x, std::int64_t i);
  };
  static constexpr Plain kinds[] = {
      {"all 0", [](double, std::int64_t) { return 0.0; }},
      {"all 1", [](double, std::int64_t) { return 1.0; }},
      {"1, 2, 3, …", [](double, std::int64_t i) { return static_cast<double>(i % 17 + 1); }},
      {"signs", [](double x, std::int64_t) { return x < 0.0 ? -1.0 : 1.0; }},
      {"whole numbers", [](double x, std::int64_t) { return std::nearbyint(x); }},
      {"powers of two",
       [](double x, std::int64_t) {
         return x == 0.0 || !std::isfinite(x)
                    ? x
                    : std::copysign(std::exp2(std::round(std::log2(std::fabs(x)))), x);
       }},
  };
  std::vector<Shrink> list;
  for (const ValueId id : given_values(excerpt)) {
    const Tensor& own = *tensor_of(excerpt, id);
    if (!is_floating(own.dtype())) continue;
    const std::vector<double> values = numbers_of(own);
    for (const Plain& kind : kinds) {
      bool same = true;
      for (std::size_t i = 0; i < values.size() && same; ++i)
        same = values[i] == kind.of(values[i], static_cast<std::int64_t>(i));
      if (same) break;  // it is as plain already
      list.push_back({fmt::format("{}: {}", excerpt.graph.values[id].name, kind.text),
                      [id, of = kind.of](const Excerpt& whole) -> std::optional<Excerpt> {
                        Excerpt made = whole;
                        Tensor& tensor = *tensor_of(made, id);
                        const std::vector<double> before = numbers_of(tensor);
                        auto plain = Tensor::make(tensor.dtype(), tensor.shape());
                        if (!plain.ok()) return std::nullopt;
                        visit_floating(tensor.dtype(), [&]<class E>() {
                          const auto to = plain->mutable_values<typename E::Stored>();
                          for (std::size_t i = 0; i < before.size(); ++i)
                            to[i] = E::nearest(of(before[i], static_cast<std::int64_t>(i)));
                        });
                        tensor = *std::move(plain);
                        made.plainer = true;
                        return made;
                      }});
    }
  }
  return list;
}

std::string cause_of(const LayerVerdict& verdict) {
  return verdict.explanation && verdict.explanation->cause ? verdict.explanation->cause->id : std::string();
}

/// What must stay while the excerpt becomes smaller: another of these would be another fault.
struct FailureKind {
  std::string cause;
  bool fault = false;        ///< rather than suspect
  bool special = false;      ///< NaN or infinity on one side only
  bool other_shape = false;  ///< or another type
  bool operator==(const FailureKind&) const = default;
};

FailureKind kind_of(const LayerVerdict& verdict) {
  const auto has = [&](std::string_view id) {
    return std::ranges::any_of(verdict.findings, [&](const Finding& finding) { return finding.id == id; });
  };
  return {cause_of(verdict), verdict.verdict == Verdict::fault, has("values.special"), has("values.type")};
}

class Reducer {
 public:
  Reducer(Excerpt excerpt, const RunExcerpt& run, const ReduceOptions& options, ThreadPool& threads)
      : run_(run), options_(options), threads_(threads), kind_(kind_of(excerpt.verdict)) {
    result_.elements_before = elements_of_all(excerpt);
    result_.excerpt = std::move(excerpt);
  }

  Result<Reduced> run() {
    constexpr std::vector<Shrink> (*rounds[])(const Excerpt&) = {smaller_sizes, fewer_inputs,
                                                                 fewer_attributes, plainer_values};
    for (bool any = true; any && !stopped_;) {
      any = false;
      failed_.clear();  // of something smaller it may be another answer
      for (const auto round : rounds) {
        // After a step the list is another one.
        for (bool again = true; again && !stopped_;) {
          DRIFTSCOPE_TRY(again, take_one(round(result_.excerpt)));
          any = any || again;
        }
      }
    }
    result_.finished = !stopped_;
    result_.elements_after = elements_of_all(result_.excerpt);
    return std::move(result_);
  }

 private:
  /// The first of them with which it still fails. Those that were refused or passed are not tried again.
  Result<bool> take_one(const std::vector<Shrink>& shrinks) {
    for (const Shrink& shrink : shrinks) {
      if (!failed_.insert(shrink.text).second) continue;
      auto candidate = shrink.make(result_.excerpt);
      if (!candidate || !complete(*candidate, threads_)) continue;
      ++result_.tried;
      stopped_ =
          result_.tried > options_.most_tries ||
          (options_.go_on && !options_.go_on({result_.tried, elements_of_all(result_.excerpt), shrink.text}));
      if (stopped_) return false;
      DRIFTSCOPE_TRY(const bool fails, still_fails(*candidate));
      if (!fails) continue;
      result_.excerpt = *std::move(candidate);
      result_.steps.push_back({shrink.text, elements_of_all(result_.excerpt)});
      failed_.erase(shrink.text);
      return true;
    }
    return false;
  }

  Result<bool> still_fails(Excerpt& candidate) {
    for (int i = 0; i < options_.repeats; ++i) {
      auto verdict = run_(candidate);
      if (!verdict.ok()) {
        // The runtime or the reference takes no such node.
        const ErrorKind kind = verdict.error().kind;
        if (kind == ErrorKind::bad_input || kind == ErrorKind::unsupported) return false;
        return std::move(verdict).error();
      }
      if (!is_bad(verdict->verdict) || kind_of(*verdict) != kind_) continue;
      candidate.verdict = *std::move(verdict);
      return true;
    }
    return false;
  }

  const RunExcerpt& run_;
  const ReduceOptions& options_;
  ThreadPool& threads_;
  const FailureKind kind_;
  Reduced result_;
  std::set<std::string> failed_;
  bool stopped_ = false;
};

}  // namespace

std::int64_t elements_of_all(const Excerpt& excerpt) {
  std::int64_t count = excerpt.got.tensor.elements();
  for (const NamedTensor& input : excerpt.inputs) count += input.tensor.elements();
  for (const Value& value : excerpt.graph.values)
    if (value.constant) count += value.constant->elements();
  return count;
}

Result<Reduced> reduce(Excerpt excerpt, const RunExcerpt& run, const ReduceOptions& options,
                       ThreadPool& threads) {
  return Reducer(std::move(excerpt), run, options, threads).run();
}

}  // namespace driftscope
