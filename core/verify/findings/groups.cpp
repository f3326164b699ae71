// How what group_estimate.cpp finds reads.
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include "core/verify/finding.hpp"

namespace driftscope::findings::groups {

void add_to(FindingTable& table) {
  table.add({"budget.inconclusive", [](const Finding& finding) {
               const std::string_view cause = finding.word("cause");
               return std::string(finding.word("why")) + (cause.empty() ? "" : ": " + std::string(cause));
             }});
  table.add({"budget.record_as_well",
             [](const Finding& finding) { return fmt::format("record {} as well", finding.word("value")); }});
  table.add({"budget.runs_within", [](const Finding&) {
               return std::string(
                   "judged by nine float32 runs of the group, eight on perturbed inputs: within 32 × their "
                   "largest error");
             }});
  table.add({"budget.runs_beyond", [](const Finding&) {
               return std::string(
                   "beyond 1,024 × the largest error of nine float32 runs of the group, eight on perturbed "
                   "inputs: the chance that this is rounding is below 1e-11");
             }});
  table.add({"budget.runs", [](const Finding& finding) {
               return std::string(finding.number("used") > 1.0
                                      ? "the errors are larger than those of float32 runs of the group"
                                      : "float32 runs of the group differ as much");
             }});
}

}  // namespace driftscope::findings::groups
