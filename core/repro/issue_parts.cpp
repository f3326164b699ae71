#include "core/repro/issue_parts.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/base/format.hpp"
#include "core/model/tensor_elements.hpp"
#include "core/repro/report_files.hpp"
#include "core/verify/finding.hpp"

namespace driftscope::repro {
namespace {

const LayerExplanation* explanation_of(const Report& report) {
  return report.one.verdict.explanation ? &*report.one.verdict.explanation : nullptr;
}

std::string error_text(double error) {
  if (std::isnan(error)) return "not a number";
  return std::isinf(error) ? std::string("infinite") : fmt::format("{:.3g}", error);
}

/// ", values 1, nan": of a tensor so small that they say more than its file; else nothing.
std::string few_values(const Tensor& tensor) {
  constexpr std::int64_t few = 8;
  const bool numbers = is_floating(tensor.dtype()) || is_integer(tensor.dtype());
  if (!numbers || tensor.elements() == 0 || tensor.elements() > few) return {};
  const int digits = is_floating(tensor.dtype()) ? 9 : 17;
  std::string text;
  for (const double number : numbers_of(tensor))
    text += fmt::format("{}{:.{}g}", text.empty() ? ", values " : ", ", number, digits);
  return text;
}

}  // namespace

std::string wrong_text(const Report& report) {
  const LayerExplanation* const why = explanation_of(report);
  if (why == nullptr || why->wrong == 0) return "some elements are wrong";
  return fmt::format("{} of {} elements are wrong{}", format_count(why->wrong), format_count(why->elements),
                     why->pattern ? ": " + why->pattern->text : "");
}

std::string contents_list(const Report& report) {
  const Excerpt& one = report.one;
  std::string text = fmt::format("- {} (opset {} of ONNX)\n", nodes_text(one.graph), one.node().opset);
  for (const NamedTensor& input : one.inputs)
    text +=
        fmt::format("- input `{}`: {}{}{}\n", input.name, type_text(input.tensor), few_values(input.tensor),
                    one.plainer ? "" : ", recorded in a run of the whole model");
  for (const Value& value : one.graph.values)
    if (value.constant)
      text += fmt::format("- weights `{}`: {}{}\n", value.name, type_text(*value.constant),
                          few_values(*value.constant));
  return text + fmt::format("- output: {}, {}\n", type_text(one.got.tensor), wrong_text(report));
}

std::string element_table(const Report& report) {
  const auto& worst = report.one.verdict.worst;
  if (!worst) return {};
  return fmt::format(
      "| element | got | expected | rounding explains |\n|---|---|---|---|\n| {} | {:.9g} | {:.9g} | {:.3g} "
      "|\n\n",
      index_text(worst->index), worst->got, worst->want, worst->budget);
}

std::string cause_text(const Report& report) {
  const LayerExplanation* const why = explanation_of(report);
  if (why == nullptr || !why->cause) return {};
  return fmt::format(
      "The result is what the operator gives with {}: all {} elements are then within rounding.\n\n",
      why->cause->text, format_count(why->cause->elements));
}

std::string parameter_section(const Report& report) {
  if (!report.table) return {};
  const ParameterTable& table = *report.table;
  if (!table.separates()) return fmt::format("The same node is {}.\n\n", parameter_text(table));
  std::string text = fmt::format("The same node is {}:\n\n", parameter_text(table));
  text +=
      fmt::format("| {} | result | wrong elements | largest error |\n|---|---|---|---|\n", table.parameter);
  for (const ParameterRow& row : table.rows)
    text +=
        fmt::format("| {}{} | {} | {} of {} | {} |\n", row.value, row.value == table.own ? " (attached)" : "",
                    row.wrong ? "**wrong**" : "right", format_count(row.wrong_elements),
                    format_count(row.elements), error_text(row.largest_error));
  text += "\nLarger sizes repeat the recorded values.";
  if (!table.no_effect.empty())
    text += fmt::format(" It is wrong for every value tried of: {}.", fmt::join(table.no_effect, ", "));
  return text + "\n\n";
}

std::string expected_and_instead(const Report& report) {
  return fmt::format(
      "**What is the expected result?**\n\n`expected.npy`, computed in double, within `bound.npy`, what "
      "rounding can explain in each element.\n\n**What happens instead?**\n\n{}.\n\n",
      wrong_text(report));
}

std::string page_steps() {
  return "In the attached folder:\n\n    npm install\n    npx http-server    # then open index.html\n\n"
         "The page shows the wrong elements and turns red.";
}

}  // namespace driftscope::repro
