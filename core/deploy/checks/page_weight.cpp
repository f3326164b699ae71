// What the page and its files take to download together, by the sizes that the server says.
#include <fmt/format.h>

#include "core/base/format.hpp"
#include "core/deploy/deploy_check.hpp"

namespace driftscope::deploy_checks::page_weight {

namespace {

constexpr double bits_per_byte = 8;
constexpr double mega = 1e6;

std::vector<DeployFinding> find(const DeployContext& context) {
  std::int64_t bytes = 0;
  std::int64_t largest = -1;
  std::int64_t unknown = 0;
  std::string where;
  for (const PageFile& file : context.page->files) {
    if (!file.ok()) continue;
    if (!file.bytes) ++unknown;
    bytes += file.bytes.value_or(0);
    if (file.bytes.value_or(0) <= largest) continue;
    largest = file.bytes.value_or(0);
    where = file.url;
  }
  const double seconds =
      static_cast<double>(bytes) * bits_per_byte / (context.limits.megabits_per_second * mega);
  if (seconds <= context.limits.start_seconds) return {};
  return {{.severity = DeploySeverity::warning,
           .where = where,
           .shows = fmt::format("a cold start waits {:.0f} s for the network at {:g} Mbit/s", seconds,
                                context.limits.megabits_per_second),
           .why = fmt::format("the page's files are {}{}; this one is the largest ({}); the limit is {:g} s",
                              format_bytes(bytes),
                              unknown > 0 ? fmt::format(", without {} whose size is not said", unknown) : "",
                              format_bytes(largest), context.limits.start_seconds),
           .fix = "compress, make the weights smaller (driftscope quantize), load what is not needed at "
                  "first later"}};
}

}  // namespace

void add_to(DeployCheckTable& table) {
  table.add(
      {.name = "page_weight", .about = "time to download all of the page", .of_model = false, .find = find});
}

}  // namespace driftscope::deploy_checks::page_weight
