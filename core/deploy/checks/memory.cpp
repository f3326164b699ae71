// Weights and the values alive together against what a browser's tab gives.
#include <fmt/format.h>

#include "core/base/format.hpp"
#include "core/deploy/deploy_check.hpp"
#include "core/deploy/graph_memory.hpp"

namespace driftscope::deploy_checks::memory {

namespace {

/// Of WebAssembly with 32-bit addresses.
constexpr double wasm_heap = 4.0 * (std::int64_t{1} << 30);
/// docs/memory.md: a larger model is refused here before a browser starts.
constexpr std::int64_t largest_model = std::int64_t{1536} << 20;
/// What a page here allows tensors on a machine with 4 GiB, half of it (web/shared/memory.mjs).
constexpr double small_machine = 2.0 * (std::int64_t{1} << 30);
/// Original bytes, tensors, and packed for kernels (native/browser/browser_session.hpp).
constexpr double copies_of_weights = 2.5;

std::vector<std::string> browser_targets(const DeployContext& context) {
  std::vector<std::string> names;
  for (const DeployTarget& target : context.targets)
    if (target.in_browser()) names.push_back(target.name);
  return names;
}

std::vector<DeployFinding> find(const DeployContext& context) {
  std::vector<DeployFinding> findings;
  if (!context.in_browsers()) return findings;
  const DeployModel& model = *context.model;
  const GraphMemory needs = graph_memory(model.best_graph());
  const auto weights = static_cast<double>(needs.constant_bytes);
  const auto peak = static_cast<double>(needs.peak_bytes);
  const double all = copies_of_weights * weights + peak;
  const std::string why = fmt::format(
      "weights {}, kept up to {} times (the file's bytes, tensors, packed for kernels); values alive "
      "together {}{}{}",
      format_bytes(needs.constant_bytes), copies_of_weights, format_bytes(needs.peak_bytes),
      needs.peak_node.empty() ? "" : fmt::format(" at {}", needs.peak_node),
      needs.unknown_values > 0 ? fmt::format(", and {} values of unknown size", needs.unknown_values) : "");
  const std::string fix = peak > weights
                              ? "use smaller inputs or a smaller batch, or run it on the PC"
                              : "make the weights smaller (driftscope quantize), or run it on the PC";
  if (model.file_bytes > largest_model)
    findings.push_back(
        {.severity = DeploySeverity::error,
         .where = model.name,
         .targets = browser_targets(context),
         .shows = fmt::format("the model has {}: more than a tab can load", format_bytes(model.file_bytes)),
         .why = fmt::format("an engine in a browser has 4 GiB of addresses, and holds the model {} "
                            "times; the limit here is {}",
                            copies_of_weights, format_bytes(largest_model)),
         .fix = "make the weights smaller (driftscope quantize), or run it on the PC"});
  else if (all > wasm_heap)
    findings.push_back({.severity = DeploySeverity::error,
                        .where = needs.peak_node.empty() ? model.name : needs.peak_node,
                        .targets = browser_targets(context),
                        .shows = "the tab runs out of memory",
                        .why = why + "; WebAssembly has 4 GiB of addresses",
                        .fix = fix});
  else if (weights + peak > small_machine)
    findings.push_back({.severity = DeploySeverity::warning,
                        .where = needs.peak_node.empty() ? model.name : needs.peak_node,
                        .targets = browser_targets(context),
                        .shows = "phones and machines with 4 GiB run out of memory",
                        .why = why + "; such machines give a tab about half of their memory",
                        .fix = fix});
  return findings;
}

}  // namespace

void add_to(DeployCheckTable& table) {
  table.add({.name = "memory", .about = "weights and values against the limit of a tab", .find = find});
}

}  // namespace driftscope::deploy_checks::memory
