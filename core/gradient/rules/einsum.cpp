// Einsum: the gradient of an operand is the einsum of dy and the other operands with the operand's labels as
// output. A label that only this operand has was summed: its gradient is repeated along that axis.
#include <algorithm>
#include <map>
#include <set>

#include "core/gradient/rule.hpp"

namespace driftscope {
namespace gradient_einsum {
namespace {

struct Equation {
  std::vector<std::string> inputs;
  std::string output;
};

std::vector<std::string> parts_of(const std::string& text) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == ',')
      parts.emplace_back();
    else if (c != ' ')
      parts.back() += c;
  }
  return parts;
}

// Replaces "..." by labels that the equation does not have, of the operand's remaining axes, last ones last.
Status name_ellipsis(NodeGradient& at, Equation& equation) {
  std::string all;
  for (const std::string& part : equation.inputs) all += part;
  std::string fresh;
  for (char c = 'Z'; c >= 'A'; --c)
    if (all.find(c) == std::string::npos) fresh.insert(fresh.begin(), c);
  std::size_t longest = 0;
  for (std::size_t i = 0; i < equation.inputs.size(); ++i) {
    std::string& part = equation.inputs[i];
    const std::size_t dots = part.find("...");
    if (dots == std::string::npos) continue;
    DRIFTSCOPE_TRY(const SymbolicShape sizes, at.sizes(at.input(i)));
    if (sizes.size() + 3 < part.size())
      return at.unsupported_form("of an operand with fewer axes than labels");
    const std::size_t hidden = sizes.size() + 3 - part.size();
    if (hidden > fresh.size()) return at.unsupported_form("of so many axes");
    longest = std::max(longest, hidden);
    part.replace(dots, 3, fresh.substr(fresh.size() - hidden));
  }
  const std::size_t dots = equation.output.find("...");
  if (dots != std::string::npos) equation.output.replace(dots, 3, fresh.substr(fresh.size() - longest));
  return {};
}

Result<Equation> equation_of(NodeGradient& at) {
  DRIFTSCOPE_TRY(const std::string text, string_attribute(at.node(), "equation", ""));
  const std::size_t arrow = text.find("->");
  Equation equation{parts_of(text.substr(0, arrow)), ""};
  if (equation.inputs.size() != at.node().inputs.size())
    return at.unsupported_form("of an equation with another number of operands");
  if (arrow != std::string::npos) {
    equation.output = parts_of(text.substr(arrow + 2))[0];
  } else {  // the labels that appear once, in alphabetical order, behind the ellipsis
    std::string all;
    for (const std::string& part : equation.inputs) all += part;
    for (const char c : std::set<char>(all.begin(), all.end()))
      if (c != '.' && std::ranges::count(all, c) == 1) equation.output += c;
    if (all.find("...") != std::string::npos) equation.output.insert(0, "...");
  }
  DRIFTSCOPE_CHECK(name_ellipsis(at, equation));
  return equation;
}

Status operand(NodeGradient& at, const Equation& equation, std::size_t of) {
  GradientEmitter& emit = at.emit();
  const std::string& labels = equation.inputs[of];
  if (std::set<char>(labels.begin(), labels.end()).size() != labels.size())
    return at.unsupported_form("of an operand with a label twice (a diagonal)");
  std::string left = equation.output, kept;
  GradientEmitter::Names operands = {at.dy()};
  for (std::size_t i = 0; i < equation.inputs.size(); ++i) {
    if (i == of) continue;
    left += "," + equation.inputs[i];
    operands.push_back(at.x(i));
  }
  Ints summed;
  for (std::size_t axis = 0; axis < labels.size(); ++axis) {
    if (left.find(labels[axis]) != std::string::npos)
      kept += labels[axis];
    else
      summed.push_back(static_cast<std::int64_t>(axis));
  }
  std::string gradient = emit.node("Einsum", operands, {{"equation", left + "->" + kept}});
  if (!summed.empty())
    gradient = emit.node("Expand", {emit.unsqueeze(gradient, summed), at.shape_of_input(of)});
  at.add(of, gradient);
  return {};
}

// A label must have the same size everywhere.
Status expect_no_broadcast(NodeGradient& at, const Equation& equation) {
  std::map<char, Dimension> sizes;
  for (std::size_t i = 0; i < equation.inputs.size(); ++i) {
    DRIFTSCOPE_TRY(const SymbolicShape shape, at.sizes(at.input(i)));
    if (shape.size() != equation.inputs[i].size())
      return at.unsupported_form("of an operand of another rank");
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      const auto [one, fresh] = sizes.emplace(equation.inputs[i][axis], shape[axis]);
      if (!fresh && one->second.known() && shape[axis].known() && one->second.size != shape[axis].size)
        return at.unsupported_form("of operands that are broadcast; Expand them before it");
    }
  }
  return {};
}

Status einsum(NodeGradient& at) {
  DRIFTSCOPE_TRY(const Equation equation, equation_of(at));
  DRIFTSCOPE_CHECK(expect_no_broadcast(at, equation));
  for (std::size_t i = 0; i < equation.inputs.size(); ++i)
    if (at.wanted(i)) DRIFTSCOPE_CHECK(operand(at, equation, i));
  return {};
}

}  // namespace
}  // namespace gradient_einsum

namespace gradient_rules::einsum {

void add_to(GradientRuleTable& table) { table.add("Einsum", gradient_einsum::einsum); }

}  // namespace gradient_rules::einsum

}  // namespace driftscope
