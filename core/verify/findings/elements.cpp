// How what judges/elements.cpp finds reads.
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include "core/verify/finding.hpp"

namespace driftscope::findings::elements {
namespace {

std::string overflow_text(const Finding& finding) {
  return fmt::format("an intermediate result {} the range of its type, the exact result does not",
                     finding.word("certainty") == "certain" ? "leaves" : "may leave");
}

std::string special_text(const Finding& finding) {
  std::string text =
      fmt::format("NaN or infinity where the other has none in {} elements", finding.number("elements"));
  if (!finding.elements.empty()) text += ", first at " + index_text(finding.elements.front());
  return text;
}

std::string type_text(const Finding& finding) {
  return fmt::format("expected {} of shape {}, got {} of shape {}", finding.word("want_type"),
                     finding.word("want_shape"), finding.word("got_type"), finding.word("got_shape"));
}

std::string biased_text(const Finding& finding) {
  return fmt::format("the errors are biased {}, more than rounding to nearest allows",
                     finding.number("z") < 0.0 ? "towards zero" : "in one direction");
}

}  // namespace

void add_to(FindingTable& table) {
  table.add({"reference.none", [](const Finding& finding) { return std::string(finding.word("why")); }});
  table.add({"range.overflow", overflow_text});
  table.add({"values.special", special_text});
  table.add({"values.type", type_text});
  table.add({"precision.biased", biased_text});
}

}  // namespace driftscope::findings::elements
