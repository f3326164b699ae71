// How long the network alone keeps users waiting at the first visit: the model, and what the page loads.
#include <fmt/format.h>

#include "core/base/format.hpp"
#include "core/deploy/deploy_check.hpp"

namespace driftscope::deploy_checks::download {

namespace {

constexpr double bits_per_byte = 8;
constexpr double mega = 1e6;

std::vector<DeployFinding> find(const DeployContext& context) {
  if (!context.in_browsers()) return {};
  const DeployModel& model = *context.model;
  const double seconds =
      static_cast<double>(model.file_bytes) * bits_per_byte / (context.limits.megabits_per_second * mega);
  if (seconds <= context.limits.start_seconds) return {};
  return {
      {.severity = DeploySeverity::warning,
       .where = model.name,
       .shows = fmt::format("the first visit waits {:.0f} s for the model at {:g} Mbit/s", seconds,
                            context.limits.megabits_per_second),
       .why = fmt::format("{} are {} to download, with its external data; the limit is {:g} s", model.name,
                          format_bytes(model.file_bytes), context.limits.start_seconds),
       .fix = "make the weights smaller (driftscope quantize: float16 halves them, int8 quarters them), keep "
              "the model in the browser's cache, and show progress"}};
}

}  // namespace

void add_to(DeployCheckTable& table) {
  table.add({.name = "download", .about = "time to download the model", .find = find});
}

}  // namespace driftscope::deploy_checks::download
