// Compiled for size on the web (cmake/core.cmake).
#include "core/ops/shared/einsum_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/base/checked.hpp"
#include "core/base/text.hpp"
#include "core/graph/attributes.hpp"
#include "core/ops/shared/shape_rules.hpp"
#include "core/ops/shared/strided_view.hpp"

namespace driftscope {
namespace {

// Letters become 0 to 51, axis i of an ellipsis counted from the end 52 + i.
constexpr std::size_t letters = 52;
constexpr std::size_t all_labels = letters + max_rank;
constexpr char ellipsis = '.';

// One operand or the output: letters, and '.' once for an ellipsis.
using Term = std::string;

struct Equation {
  std::vector<Term> operands;
  std::optional<Term> output;
};

Error malformed(const std::string& equation, const std::string& why) {
  return bad_input(fmt::format("attribute equation: {}: {}", in_quotes(equation), why));
}

Result<Term> read_term(const std::string& equation, std::string_view text) {
  Term term;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ' ') continue;
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
      term += c;
    } else if (text.substr(i, 3) == "..." && term.find(ellipsis) == Term::npos) {
      term += ellipsis;
      i += 2;
    } else {
      return malformed(equation, fmt::format("unexpected character at {}", in_quotes(text.substr(i))));
    }
  }
  return term;
}

Result<Equation> read_equation(const std::string& equation) {
  Equation result;
  std::string_view text = equation;
  const auto arrow = text.find("->");
  if (arrow != std::string_view::npos) {
    DRIFTSCOPE_TRY(result.output, read_term(equation, text.substr(arrow + 2)));
    text = text.substr(0, arrow);
  }
  while (true) {
    const auto comma = text.find(',');
    DRIFTSCOPE_TRY(Term term, read_term(equation, text.substr(0, comma)));
    result.operands.push_back(std::move(term));
    if (comma == std::string_view::npos) return result;
    text.remove_prefix(comma + 1);
  }
}

std::size_t label_of(char c) { return static_cast<std::size_t>(c >= 'a' ? c - 'a' + 26 : c - 'A'); }

// The labels of the axes of one operand.
Result<std::vector<std::size_t>> label_axes(const std::string& equation, const Term& term,
                                            const SymbolicShape& shape, std::size_t index) {
  const bool open = term.find(ellipsis) != Term::npos;
  const std::size_t named = term.size() - (open ? 1 : 0);
  if (open ? shape.size() < named : shape.size() != named)
    return malformed(equation,
                     fmt::format("{} labels for input {} of shape {}", named, index, shape_text(shape)));
  std::vector<std::size_t> axes;
  for (const char c : term) {
    if (c != ellipsis) {
      axes.push_back(label_of(c));
      continue;
    }
    for (std::size_t i = shape.size() - named; i-- > 0;) axes.push_back(letters + i);
  }
  return axes;
}

// Equal sizes, or one of them is 1 and repeated.
Result<Dimension> same_size(const Dimension& a, const Dimension& b) {
  if (a.size == 1) return b;
  if (b.size == 1) return a;
  const auto both = unify(a, b);
  if (both) return *both;
  return bad_input(fmt::format("a label stands for axes of {} and of {} elements", a.size, b.size));
}

}  // namespace

Result<EinsumLabels> label_einsum(const Node& node, std::span<const SymbolicShape> shapes) {
  DRIFTSCOPE_TRY(const std::string text, string_attribute(node, "equation", ""));
  DRIFTSCOPE_TRY(const Equation equation, read_equation(text));
  if (equation.operands.size() != shapes.size())
    return malformed(text, fmt::format("{} operands for {} inputs", equation.operands.size(), shapes.size()));
  EinsumLabels result;
  result.sizes.assign(all_labels, known_dimension(1));
  std::array<int, all_labels> seen{};
  std::vector<std::size_t> appearance;
  std::size_t open_axes = 0;  // of the longest ellipsis
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    DRIFTSCOPE_TRY(auto axes, label_axes(text, equation.operands[i], shapes[i], i));
    for (std::size_t axis = 0; axis < axes.size(); ++axis) {
      const std::size_t label = axes[axis];
      if (seen[label]++ == 0) {
        appearance.push_back(label);
        result.sizes[label] = shapes[i][axis];
      } else {
        auto size = same_size(result.sizes[label], shapes[i][axis]);
        if (!size.ok()) return malformed(text, size.error().message);
        result.sizes[label] = *size;
      }
      if (label >= letters) open_axes = std::max(open_axes, label - letters + 1);
    }
    result.operands.push_back(std::move(axes));
  }
  std::string output;
  if (equation.output) {
    output = *equation.output;
  } else {
    output += ellipsis;
    for (char c = 'A'; c <= 'z'; ++c)
      if ((c <= 'Z' || c >= 'a') && seen[label_of(c)] == 1) output += c;
  }
  std::array<bool, all_labels> kept{};
  const auto keep = [&](std::size_t label) {
    if (kept[label]) return false;
    kept[label] = true;
    result.output.push_back(label);
    return true;
  };
  for (const char c : output) {
    if (c == ellipsis) {
      for (std::size_t i = open_axes; i-- > 0;) keep(letters + i);
      continue;
    }
    if (seen[label_of(c)] == 0)
      return malformed(text, fmt::format("label {} of the output is in no operand", c));
    if (!keep(label_of(c))) return malformed(text, fmt::format("label {} is in the output twice", c));
  }
  for (const std::size_t label : appearance)
    if (!kept[label]) result.summed.push_back(label);
  return result;
}

Result<EinsumPlan> plan_einsum(const Node& node, std::span<const Shape> shapes) {
  std::vector<SymbolicShape> symbolic;
  for (const Shape& shape : shapes) symbolic.push_back(symbolic_shape(shape));
  DRIFTSCOPE_TRY(const EinsumLabels labels, label_einsum(node, symbolic));
  EinsumPlan plan;
  for (const std::size_t label : labels.output) plan.output.push_back(labels.sizes[label].size);
  for (const std::size_t label : labels.summed) plan.summed.push_back(labels.sizes[label].size);
  const auto terms = checked_product(plan.summed);
  if (!terms) return limit_error("a sum has more terms than 64 bits can count");
  plan.terms = *terms;
  for (std::size_t k = 0; k < shapes.size(); ++k) {
    const Shape dense = dense_strides(shapes[k]);
    Shape per_label(all_labels, 0);
    for (std::size_t axis = 0; axis < shapes[k].size(); ++axis)
      if (shapes[k][axis] != 1) per_label[labels.operands[k][axis]] += dense[axis];
    const auto pick = [&](const std::vector<std::size_t>& list) {
      Shape strides;
      for (const std::size_t label : list) strides.push_back(per_label[label]);
      return strides;
    };
    plan.output_strides.push_back(pick(labels.output));
    plan.summed_strides.push_back(pick(labels.summed));
  }
  return plan;
}

}  // namespace driftscope
