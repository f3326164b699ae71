#include "core/study/stored_study.hpp"

#include <fmt/format.h>

#include "core/base/json_lists.hpp"
#include "core/campaign/store_format.hpp"

namespace driftscope {
namespace {

Error of_file(Error error, std::string_view file) { return in_context(std::move(error), std::string(file)); }

}  // namespace

std::vector<std::string> study_targets_in_store(const documents::Study& study, const CampaignResults& cells) {
  std::vector<std::string> names = study.targets;
  for (std::string& name : names) {
    const std::string versioned = name + " (";
    // The last by name: of several versions one has to be chosen.
    for (const auto& [cell, result] : cells)
      if (cell.target.starts_with(versioned)) name = cell.target;
  }
  return names;
}

Result<StudyView> read_stored_study(const StudyTexts& texts) {
  auto study = read_study(texts.study);
  if (!study.ok()) return of_file(std::move(study).error(), study_file_name);
  const auto definition = definition_in(texts.cells);
  if (!definition.ok()) return of_file(definition.error(), study_store_name);
  const auto stored = read_store(texts.cells, *definition);
  if (!stored.ok()) return of_file(stored.error(), study_store_name);
  auto results = read_study_results(*study, study_targets_in_store(*study, stored->results), stored->results);
  if (!results.ok()) return of_file(std::move(results).error(), study_store_name);
  results->cells = std::ssize(stored->results);
  results->failed = std::ssize(failed_cells(stored->results));
  const auto bytes = parse_document(texts.sizes);
  if (!bytes.ok() || !read_json(*bytes, JsonPath(), results->bytes).ok())
    return bad_input(fmt::format("{}: expected a list of numbers", study_sizes_name));
  return StudyView(*std::move(study), *std::move(results));
}

}  // namespace driftscope
