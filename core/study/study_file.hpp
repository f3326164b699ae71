// A study as people write it ("driftscope-study-1"): which models in which variants, on which targets, over
// which data sets; published tables to reprint and claims to check. Clients: the study command, tests.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "generated/documents/study.hpp"

namespace driftscope {

/// Errors, each with its line: not JSON, unknown or missing fields, names that occur twice, that are not
/// there or that a file or a table could not hold, targets that cannot be read, measures and kinds of
/// claims that do not exist. Whether files and hosts exist is not looked at.
[[nodiscard]] Result<documents::Study> read_study(std::string_view text);

/// A model in one form, as cells name it.
struct StudySubject {
  std::string model;
  std::string variant;  ///< "float32" for the model itself
  std::string path;
  std::vector<documents::StudyData> data;
  [[nodiscard]] std::string name() const { return variant == base_variant ? model : model + " " + variant; }
  static constexpr std::string_view base_variant = "float32";
};
[[nodiscard]] std::vector<StudySubject> subjects_of(const documents::Study& study);

}  // namespace driftscope
