#include "core/folder/smallest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/base/format.hpp"

namespace driftscope {
namespace {

using documents::Folder;
using documents::FolderCell;
using documents::FolderPart;
using documents::FolderVariant;

bool ran(const FolderCell& cell) { return cell.error.empty(); }

std::set<std::string> targets_that_ran(const FolderPart& part) {
  std::set<std::string> targets;
  for (const FolderVariant& variant : part.variants)
    for (const FolderCell& cell : variant.cells)
      if (ran(cell)) targets.insert(cell.target);
  return targets;
}

bool has_predictions(const FolderPart& part) {
  return std::ranges::any_of(part.variants, [](const FolderVariant& variant) {
    return std::ranges::any_of(variant.cells,
                               [](const FolderCell& cell) { return cell.same_prediction.has_value(); });
  });
}

/// Empty: the answer is kept.
std::string why_not(const FolderCell& cell, bool predictions, double tolerance) {
  if (!ran(cell)) return fmt::format("it did not run on {}", cell.target);
  if (cell.verdict == "fault")
    return fmt::format("a layer is a fault on {}{}", cell.target,
                       cell.first_fault.empty() ? "" : ", first " + cell.first_fault);
  if (!cell.drift) return fmt::format("its answer on {} could not be compared", cell.target);
  if (predictions) {
    if (!cell.same_prediction) return fmt::format("its answer on {} is no prediction", cell.target);
    if (*cell.same_prediction) return {};
    return cell.answers.value_or(0) > 1 ? fmt::format("{} of {} predictions differ on {}",
                                                      cell.different.value_or(0), *cell.answers, cell.target)
                                        : fmt::format("another prediction on {}", cell.target);
  }
  if (*cell.drift <= tolerance) return {};  // false for NaN
  return fmt::format("a drift of {} on {}", format_number(*cell.drift), cell.target);
}

std::string why_not(const FolderVariant& variant, const std::set<std::string>& targets, bool predictions,
                    double tolerance) {
  if (!variant.error.empty()) return "it could not be run";
  for (const FolderCell& cell : variant.cells) {
    if (!targets.contains(cell.target)) continue;
    if (std::string why = why_not(cell, predictions, tolerance); !why.empty()) return why;
  }
  return {};
}

std::string places_text(std::size_t count) {
  return count == 1   ? "on the target"
         : count == 2 ? "on both targets"
                      : fmt::format("on all {} targets", count);
}

}  // namespace

void conclude(FolderPart& part, const Folder& folder) {
  const std::set<std::string> targets = targets_that_ran(part);
  part.smallest.clear();
  part.excluded.clear();
  if (targets.empty() || part.reference.empty()) {
    part.conclusion = "No variant ran, so none can be named.";
    return;
  }
  const bool predictions = has_predictions(part);
  part.rule = predictions ? "prediction" : "drift";
  const FolderVariant* best = nullptr;
  for (const FolderVariant& variant : part.variants) {
    std::string why = why_not(variant, targets, predictions, folder.tolerance);
    if (!why.empty())
      part.excluded.push_back({variant.name, std::move(why)});
    else if (best == nullptr || variant.bytes < best->bytes)
      best = &variant;
  }
  const std::string rule =
      predictions ? fmt::format("the same prediction as {} on {}", part.reference, folder.reference_target)
                  : fmt::format("a drift of at most {} from {} on {}", format_number(folder.tolerance),
                                part.reference, folder.reference_target);
  if (best == nullptr) {
    part.conclusion = fmt::format("No variant keeps the answers {} (rule: {}, and no fault).",
                                  places_text(targets.size()), rule);
  } else {
    part.smallest = best->name;
    part.conclusion =
        fmt::format("{} ({}) is the smallest variant that keeps the answers {}: {}, for this input.",
                    best->name, format_bytes(best->bytes), places_text(targets.size()), rule);
  }
  for (const std::string& target : folder.targets)
    if (!targets.contains(target))
      part.conclusion += fmt::format(" {} is left out: no variant ran there.", target);
}

}  // namespace driftscope
