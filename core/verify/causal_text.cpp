// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include "core/verify/explanation.hpp"

namespace driftscope {
namespace {

/// "a", "a or b", "a, b or c"
std::string any_of(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 == names.size() ? " or " : ", ") + names[i];
  return text;
}

std::string sentence(const CausalSummary& summary) {
  if (summary.layers == 0) return "no wrong layer was tested";
  if (summary.was_right)
    return fmt::format("the answer is right on {} with {} wrong as well", summary.target,
                       summary.layers == 1 ? "this layer" : fmt::format("these {} layers", summary.layers));
  if (!summary.alone.empty())
    return fmt::format("with {} {}right, the answer is right on {}", any_of(summary.alone),
                       summary.layers > 1 ? "alone " : "", summary.target);
  if (summary.layers == 1)
    return fmt::format("with this layer right, the answer is still wrong on {}", summary.target);
  std::string none = fmt::format("no layer suffices alone of {} wrong ones", summary.layers);
  if (!summary.together) return none;
  return none +
         (*summary.together
              ? fmt::format("; with all of them right, the answer is right on {}", summary.target)
              : fmt::format("; with all of them right, the answer is still wrong on {}: something else "
                            "is wrong as well",
                            summary.target));
}

}  // namespace

std::string causal_text(const CausalSummary& summary) {
  std::string text = sentence(summary);
  if (!summary.not_tested.empty())
    text += fmt::format("; not tested: {}", fmt::join(summary.not_tested, ", "));
  return text;
}

std::string causal_headline(const CausalSummary& summary) {
  if (summary.layers == 0) return {};
  if (summary.was_right) return "the answer is right all the same";
  if (!summary.alone.empty()) return fmt::format("with {} right the answer is right", any_of(summary.alone));
  if (summary.together == true)
    return fmt::format("with all {} wrong layers right the answer is right", summary.layers);
  return {};
}

}  // namespace driftscope
